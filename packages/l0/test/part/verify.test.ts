import { crc32 } from "node:zlib";
import { describe, expect, it } from "vitest";
import { BLOCK_HEADER_BYTES, placeSeed, statedPlace } from "../../src/part/block.ts";
import type { BlockPlace } from "../../src/part/block.ts";
import { decodePartFooter, encodePartFooter, PART_FOOTER_BYTES } from "../../src/part/part-format.ts";
import type { PartFooter } from "../../src/part/part-format.ts";
import { buildLog, damages, logPart, noise, sampleLog } from "./drive.ts";
import type { Built } from "./drive.ts";

const seed = crc32(noise(32, 5));
const items = sampleLog(400, 12, 150);

function blocksOf(bytes: Buffer): BlockPlace[] {
  const places: BlockPlace[] = [];
  for (let at = 4096; at < bytes.length - PART_FOOTER_BYTES; at += (places.at(-1) as BlockPlace).bytes)
    places.push(statedPlace(bytes.subarray(at, at + BLOCK_HEADER_BYTES), at) as BlockPlace);
  return places;
}

/** Changes the plain bytes of the first block of a kind and makes its checksum fit: what a fault of ours would leave. */
async function reasonAfter(kind: BlockPlace["kind"], change: (plain: Buffer) => void): Promise<string | undefined> {
  const { meta, bytes } = buildLog(items);
  const place = blocksOf(bytes).find((block) => block.kind === kind) as BlockPlace;
  const block = bytes.subarray(place.offset, place.offset + place.bytes);
  change(block.subarray(BLOCK_HEADER_BYTES));
  block.writeUInt32LE(crc32(block.subarray(4), placeSeed(seed, place.offset)), 0);
  return (await damages(await logPart({ meta, bytes })))[0]?.reason;
}

async function reasonWith(change: Partial<PartFooter>): Promise<string | undefined> {
  const { meta, bytes }: Built = buildLog(items);
  const at = bytes.length - PART_FOOTER_BYTES;
  const footer = decodePartFooter(bytes.subarray(at), seed, bytes.length) as PartFooter;
  encodePartFooter({ ...footer, ...change }, seed).copy(bytes, at);
  return (await damages(await logPart({ meta, bytes })))[0]?.reason;
}

describe("verify of a part whose checksums all fit", () => {
  it("finds a record whose version, position, revision, time, key or id isn't what the rest says", async () => {
    // The first entry: revision 0, time 8, op 16, sort 24, version 32, key "key-0" 40, id bytes 45, id 47, content hash behind it.
    for (const at of [0, 8, 24, 32, 44, 50]) {
      expect(await reasonAfter("data", (plain) => (plain[at] = (plain[at] as number) ^ 1)), `byte ${at}`).toBeDefined();
    }
  });

  it("finds an entry that isn't whole, an operation of a map, and another dataset's", async () => {
    for (const at of [16, 20, 21]) {
      const reason = await reasonAfter("data", (plain) => (plain[at] = (plain[at] as number) ^ 3));
      expect(reason, `byte ${at}`).toMatch(/isn't whole/);
    }
  });

  it("finds postings, ids, index and blooms that don't say what the data says", async () => {
    expect(await reasonAfter("postings", (plain) => (plain[40] = (plain[40] as number) ^ 1))).toBeDefined();
    expect(await reasonAfter("ids", (plain) => (plain[4] = (plain[4] as number) ^ 1))).toBeDefined();
    expect(await reasonAfter("index", (plain) => (plain[8] = (plain[8] as number) ^ 1))).toMatch(/its index/);
    expect(await reasonAfter("keyBloom", (plain) => plain.fill(0))).toMatch(/bloom of keys/);
    expect(await reasonAfter("idBloom", (plain) => plain.fill(0))).toMatch(/bloom of ids/);
  });

  it("finds counts in the footer that aren't those of the file", async () => {
    expect(await reasonWith({})).toBeUndefined();
    expect(await reasonWith({ keys: 13 })).toMatch(/number of keys/);
    expect(await reasonWith({ blocks: 3 })).toMatch(/blocks/);
  });
});
