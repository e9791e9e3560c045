import Database from "better-sqlite3";
import { join } from "node:path";
import type { Peer, PeerKind } from "./peer.ts";

/** SQLite in WAL mode with synchronous FULL: each commit is synced. Every call holds the event loop. */
export const betterSqlite3: PeerKind = {
  name: "better-sqlite3",
  concurrent: false,
  open(directory: string): Peer {
    const database = new Database(join(directory, "events.sqlite"));
    database.pragma("journal_mode = WAL");
    database.pragma("synchronous = FULL");
    database.exec("CREATE TABLE events (sequence INTEGER PRIMARY KEY, data BLOB NOT NULL)");
    const insert = database.prepare("INSERT INTO events (sequence, data) VALUES (?, ?)");
    const select = database.prepare("SELECT data FROM events WHERE sequence >= ? ORDER BY sequence LIMIT ?").pluck();
    const insertAll = database.transaction((first: number, records: readonly Uint8Array[]) => {
      for (const [index, record] of records.entries()) insert.run(first + index, record);
    });
    return {
      name: "better-sqlite3",
      append: (sequence, record) => {
        insert.run(sequence, record);
      },
      appendAll: (first, records) => insertAll(first, records),
      range: (first, count, each) => {
        for (const data of select.iterate(first, count) as IterableIterator<Uint8Array>) each(data);
      },
      close: () => {
        database.close();
      },
    };
  },
};
