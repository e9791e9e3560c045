import { arch, availableParallelism, release } from "node:os";
import { join } from "node:path";
import { isEhdbError, MIB, throwIfAborted } from "@ehdb/contracts";
import type { Checks } from "../checks.ts";
import { describeError } from "../checks.ts";
import { fileSystemNote, fileSystemType } from "../file-system.ts";
import { rounded } from "../figures.ts";
import { percentile } from "../percentile.ts";
import { withFile } from "../tree.ts";
import type { Verb, VerbContext } from "../verb.ts";

const LEAST_NODE = { major: 20, minor: 19 } as const;
const SYNCS = 200;
const SYNCED_BYTES = 4096;

export const configVerb: Verb = {
  name: "config",
  summary: "looks at Node, the directory, its disk and its lock, and prints the options",

  async run(context, checks) {
    checkNode(checks);
    checks.step({
      name: "platform",
      value: `${process.platform} ${arch()} ${release()}, ${availableParallelism()} CPUs`,
    });
    printOptions(context, checks);
    checks.step({ name: "directory can be written", value: context.directory });
    const freeBytes = await context.host.files.freeBytes(context.directory);
    checks.step({ name: "free space", value: Math.floor(freeBytes / MIB), unit: "MiB" });
    const type = await fileSystemType(context.directory);
    checks.step({ name: "file system", value: type ?? "unknown", message: fileSystemNote(type) });
    await measureSyncs(context, checks);
    await tryLock(context, checks);
  },
};

function checkNode(checks: Checks): void {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  const ok = major > LEAST_NODE.major || (major === LEAST_NODE.major && minor >= LEAST_NODE.minor);
  const message = ok ? undefined : `needs Node ${LEAST_NODE.major}.${LEAST_NODE.minor} or later`;
  checks.step({ name: "Node", value: process.versions.node, ok, message }, "invalid");
}

function printOptions({ options }: VerbContext, checks: Checks): void {
  const { dir, input, ...others } = options;
  const all = { ...others, dir: dir ?? "temporary", input: input ?? "webhooks" };
  const value = Object.entries(all).map(([name, setting]) => `${name}=${setting}`);
  checks.step({ name: "options", value: value.join(" ") });
}

/** A write of one page into space that is there already, and a data sync: what each group commit pays. */
async function measureSyncs(context: VerbContext, checks: Checks): Promise<void> {
  const { files, clock, random } = context.host;
  const page = random.bytes(SYNCED_BYTES);
  const samples: number[] = [];
  await withFile(files, join(context.directory, "syncs"), "create", async (file) => {
    await file.preallocate(0, SYNCS * SYNCED_BYTES);
    await file.dataSync();
    for (let i = 0; i < SYNCS; i++) {
      throwIfAborted(context.signal, "measuring syncs");
      const started = clock.monotonic();
      await file.write(page, i * SYNCED_BYTES);
      await file.dataSync();
      samples.push(clock.monotonic() - started);
      context.progress(i + 1, SYNCS);
    }
  });
  checks.step({ name: "fdatasync of 4 KiB, p50", count: SYNCS, value: rounded(percentile(samples, 0.5)), unit: "ms" });
  checks.step({ name: "fdatasync of 4 KiB, p99", count: SYNCS, value: rounded(percentile(samples, 0.99)), unit: "ms" });
}

/** The journal's own lock: whoever comes second must be refused, and let in once the first has gone. */
async function tryLock(context: VerbContext, checks: Checks): Promise<void> {
  const options = { dir: join(context.directory, "locked"), host: context.host };
  const name = "lock: a second open is refused";
  const first = await context.openJournal(options);
  try {
    const second = await context.openJournal(options);
    await second.close();
    checks.step({
      name,
      ok: false,
      message: "two writers were let into one directory: its file system can't be trusted with a store",
    });
  } catch (error) {
    const refused = isEhdbError(error, "LOCKED");
    checks.step({
      name,
      value: refused ? "LOCKED" : "failed",
      ok: refused,
      message: refused ? undefined : describeError(error),
    });
  } finally {
    await first.close();
  }
  const third = await context.openJournal(options);
  await third.close();
  checks.step({ name: "lock: free again after close", value: "opened" });
}
