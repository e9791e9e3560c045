import { join } from "node:path";
import { copyTree, withFile } from "../tree.ts";
import { expectRefusal } from "./refusal.ts";
import { expectSalvage } from "./salvaged.ts";
import { findSealedSegment, rangeOf } from "./scene.ts";
import type { Scene } from "./scene.ts";

/** Rot: one bit of one acknowledged batch, in the middle of a sealed segment. */
export async function flipBit(scene: Scene): Promise<void> {
  const { files } = scene.context.host;
  const directory = join(scene.context.directory, "flipped");
  await copyTree(files, scene.clean, directory);
  const { path, batches } = await findSealedSegment(scene, directory);
  const batch = batches[Math.floor(batches.length / 2)] as (typeof batches)[number];
  const offset = batch.bodyOffset + scene.random.integer(batch.bodyBytes);
  await withFile(files, path, "write", async (file) => {
    const byte = new Uint8Array(1);
    await file.read(byte, offset);
    byte[0] = (byte[0] as number) ^ (1 << scene.random.integer(8));
    await file.write(byte, offset);
  });
  await expectRefusal(scene, "one bit flipped", directory, path, rangeOf([batch]));
  await expectSalvage(scene, "one bit flipped, salvaged", directory, rangeOf([batch]));
}
