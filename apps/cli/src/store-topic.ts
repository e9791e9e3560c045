/** `ehdb help store`. */
export const storeTopic = `A store is a directory. One process has it open to write; any number may read it meanwhile.

  CURRENT                       names the manifest in force
  manifest-000000000012         which parts there are, and up to which commit: a log of edits. The last 32 are kept
  parts/000000000034.part       records of one dataset, sorted, with their index. A part never changes: merges make new
                                ones, and the old ones go
  journal/0000000000000007.segment
                                commits in their order, as they came. What is in parts is dropped from it
  journal/LOCK                  held by the process that writes
  journal/space.reserve         space kept aside, so that the store opens on a full disk
  space.reserve                 the same, so that what waits becomes parts on a full disk

A commit goes to the journal, and is on disk when its call resolves. It stays in memory, too, until so much has come together that it's
sealed: written as parts, one a dataset, which the manifest then names.

Datasets are logs (by-sort: records with positions, as events) or maps (by-key: a value a key). An event log has three or more:
eventlog.events, eventlog.streams (what was truncated or deleted), eventlog.consumers (how far each one is).

Never edit, copy or remove single files of a store. Copy one that no process has open as a whole directory; one that is open is copied by
\`ehdb backup\`, or by engine.backup() in its process. Keep copies: damage is found, and then mended from them.

Which command for what:

  what is in it?                ehdb inspect, ehdb stats
  is it whole?                  ehdb verify
  what happens in it?           ehdb tail, ehdb export
  it takes too much space       ehdb merge; for what must be gone: ehdb scavenge
  a copy                        ehdb backup, ehdb restore
  it's damaged                  ehdb restore from a backup, or ehdb salvage
`;
