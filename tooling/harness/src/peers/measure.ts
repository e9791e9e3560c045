import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { assertCount, assertWork, proofOf, SampledDigest } from "../work-proof.ts";
import type { Peer, PeerKind } from "./peer.ts";

/** What a peer is to do: `count` records, taken from `records` round and round. */
export interface PeerWork {
  readonly directory: string;
  readonly records: readonly Uint8Array[];
  readonly count: number;
}

/** Durable appends a second, `inFlight` callers each waiting for its own before the next. */
export function peerAppends(
  kind: PeerKind,
  { directory, records, count }: PeerWork,
  inFlight: number,
): Promise<number> {
  return withPeer(kind, directory, async (peer) => {
    let [next, done] = [0, 0];
    const caller = async (): Promise<void> => {
      while (next < count) {
        const index = next++;
        const appended = peer.append(index + 1, records[index % records.length] as Uint8Array);
        if (appended !== undefined) await appended;
        done++;
      }
    };
    const start = performance.now();
    await Promise.all(Array.from({ length: inFlight }, caller));
    assertCount(`${kind.name}, appends done`, done, count);
    const perSecond = (count * 1000) / (performance.now() - start);
    await assertStored(peer, records, count);
    return perSecond;
  });
}

/** Records a second in transactions of `batch`, one after the other. */
export function peerBatches(kind: PeerKind, { directory, records, count }: PeerWork, batch: number): Promise<number> {
  return withPeer(kind, directory, async (peer) => {
    const batches = Math.floor(count / batch);
    const inputs = Array.from({ length: batches }, (_, b) => slice(records, b * batch, batch));
    const start = performance.now();
    for (const [index, input] of inputs.entries()) await peer.appendAll(1 + index * batch, input);
    const perSecond = (batches * batch * 1000) / (performance.now() - start);
    await assertStored(peer, records, batches * batch);
    return perSecond;
  });
}

/** Records a second in reads of `length` records each, over a store of `count`. */
export function peerRanges(kind: PeerKind, { directory, records, count }: PeerWork, length: number): Promise<number> {
  return withPeer(kind, directory, async (peer) => {
    for (let at = 0; at < count; at += 10_000)
      await peer.appendAll(at + 1, slice(records, at, Math.min(10_000, count - at)));
    const firsts = Array.from({ length: Math.floor(count / length) }, (_, index) => 1 + index * length);
    const expected = proofOf(new SampledDigest(), slice(records, 0, firsts.length * length));
    const proof = new SampledDigest();
    const start = performance.now();
    for (const first of firsts) await peer.range(first, length, (record) => proof.add(record));
    assertWork(`${kind.name}, range read`, proof, expected);
    return (proof.count * 1000) / (performance.now() - start);
  });
}

async function assertStored(peer: Peer, records: readonly Uint8Array[], count: number): Promise<void> {
  const proof = new SampledDigest();
  await peer.range(1, count + 1, (record) => proof.add(record));
  assertWork(`${peer.name}, what is stored`, proof, proofOf(new SampledDigest(), slice(records, 0, count)));
}

async function withPeer<T>(kind: PeerKind, directory: string, work: (peer: Peer) => Promise<T>): Promise<T> {
  const own = join(directory, kind.name);
  mkdirSync(own, { recursive: true });
  try {
    const peer = await kind.open(own);
    try {
      return await work(peer);
    } finally {
      await peer.close();
    }
  } finally {
    rmSync(own, { recursive: true, force: true });
  }
}

function slice(records: readonly Uint8Array[], first: number, count: number): Uint8Array[] {
  return Array.from({ length: count }, (_, index) => records[(first + index) % records.length] as Uint8Array);
}
