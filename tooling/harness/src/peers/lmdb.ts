import { open } from "lmdb";
import { join } from "node:path";
import type { Peer, PeerKind } from "./peer.ts";

/**
 * LMDB. Without overlapping syncs, so that a put's promise resolves when the transaction is on disk and not merely committed;
 * puts that wait side by side share a transaction.
 */
export const lmdb: PeerKind = {
  name: "lmdb",
  concurrent: true,
  open(directory: string): Peer {
    const database = open<Uint8Array, number>({
      path: join(directory, "events.lmdb"),
      encoding: "binary",
      keyEncoding: "uint32",
      overlappingSync: false,
    });
    return {
      name: "lmdb",
      append: async (sequence, record) => {
        await database.put(sequence, record);
      },
      appendAll: async (first, records) => {
        await database.transaction(() => {
          for (const [index, record] of records.entries()) void database.put(first + index, record);
        });
      },
      range: (first, count, each) => {
        for (const { value } of database.getRange({ start: first, limit: count })) each(value);
      },
      close: () => database.close(),
    };
  },
};
