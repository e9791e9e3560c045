import { join } from "node:path";
import { copyTree, withFile } from "../tree.ts";
import { expectRefusal } from "./refusal.ts";
import { expectSalvage } from "./salvaged.ts";
import { findSealedSegment, rangeOf } from "./scene.ts";
import type { Scene } from "./scene.ts";

/** A sealed segment that ends exactly between two batches: each that is left is whole, and only the chain shows the cut. */
export async function cutSegment(scene: Scene): Promise<void> {
  const { files } = scene.context.host;
  const directory = join(scene.context.directory, "cut");
  await copyTree(files, scene.clean, directory);
  const { path, batches } = await findSealedSegment(scene, directory);
  const cutOff = batches.slice(Math.ceil(batches.length / 2));
  await withFile(files, path, "write", (file) => file.truncate(cutOff[0]?.offset ?? 0));
  await expectRefusal(scene, "a sealed segment cut", directory, path, rangeOf(cutOff));
  await expectSalvage(scene, "a sealed segment cut, salvaged", directory, rangeOf(cutOff));
}
