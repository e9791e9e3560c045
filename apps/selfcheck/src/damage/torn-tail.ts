import { Comparison } from "../comparison.ts";
import { SelfcheckError } from "../outcome.ts";
import { readSegments } from "../segment-file.ts";
import { withFile } from "../tree.ts";
import type { Scene } from "./scene.ts";

/** So much of a batch is there again behind the last one, as if the machine had stopped while it was being written. */
const TORN_BYTES = 600;
const GARBAGE_BYTES = 3000;

/** What a write that never finished leaves behind: part of a batch, then garbage. It was never acknowledged, and must not matter. */
export async function tearTail(scene: Scene): Promise<void> {
  const { context, checks, source, plan, acknowledged } = scene;
  const { files } = context.host;
  const newest = (await readSegments(files, scene.unclean)).at(-1);
  const last = newest?.batches.at(-1);
  if (newest === undefined || last === undefined)
    throw new SelfcheckError("unavailable", `${scene.unclean} holds no batch to tear`);
  await withFile(files, newest.path, "write", async (file) => {
    const torn = new Uint8Array(Math.min(TORN_BYTES, last.end - last.offset - 1));
    await file.read(torn, last.offset);
    await file.write(torn, last.end);
    await file.write(scene.random.bytes(GARBAGE_BYTES), last.end + torn.length);
  });
  const journal = await context.openJournal({ dir: scene.unclean, host: context.host });
  try {
    const comparison = new Comparison(source, plan);
    for await (const record of journal.scan({ signal: context.signal })) comparison.see(record);
    comparison.finish(acknowledged);
    const { tornBytes } = journal.recovery;
    const said = `opens; ${tornBytes} bytes after the last whole batch are void`;
    checks.step({
      name: "a torn tail after a kill",
      count: acknowledged.size,
      value: "opened",
      ok: comparison.problems.none && tornBytes > 0,
      message: comparison.problems.text ?? said,
    });
  } finally {
    await journal.close();
  }
}
