import { ClassicLevel } from "classic-level";
import { join } from "node:path";
import type { Peer, PeerKind } from "./peer.ts";

/** LevelDB, each write with `sync: true`. */
export const classicLevel: PeerKind = {
  name: "classic-level",
  concurrent: true,
  async open(directory: string): Promise<Peer> {
    const database = new ClassicLevel<Buffer, Uint8Array>(join(directory, "events.level"), {
      keyEncoding: "buffer",
      valueEncoding: "view",
    });
    await database.open();
    return {
      name: "classic-level",
      append: (sequence, record) => database.put(key(sequence), record, { sync: true }),
      appendAll: (first, records) => {
        const puts = records.map((value, index) => ({ type: "put" as const, key: key(first + index), value }));
        return database.batch(puts, { sync: true });
      },
      range: async (first, count, each) => {
        for await (const value of database.values({ gte: key(first), limit: count })) each(value);
      },
      close: () => database.close(),
    };
  },
};

/** Big-endian, so that the order of bytes is the order of numbers. */
function key(sequence: number): Buffer {
  const bytes = Buffer.allocUnsafe(6);
  bytes.writeUIntBE(sequence, 0, 6);
  return bytes;
}
