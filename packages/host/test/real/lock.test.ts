import { isEhdbError } from "@ehdb/contracts";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { beforeAll, describe, expect } from "vitest";
import { builtHost, programPath } from "./built.ts";
import { host, test } from "./temporary.ts";

const { files } = host;

/** A process that tries to lock `path`, and what it says. */
async function lockElsewhere(path: string): Promise<{ child: ChildProcess; said: string }> {
  const child = spawn(process.execPath, [programPath("hold-lock.mjs"), path], { stdio: ["pipe", "pipe", "inherit"] });
  const [said] = (await once(createInterface(child.stdout), "line")) as [string];
  return { child, said };
}

describe("a lock", () => {
  beforeAll(async () => void (await builtHost()));

  test("is refused a second time in this process, until it is released", async ({ dir }) => {
    const path = join(dir, "LOCK");
    const lock = await files.lock(path);
    const refused: unknown = await files.lock(path).catch((error: unknown) => error);
    expect(isEhdbError(refused, "LOCKED")).toBe(true);
    expect(refused).toMatchObject({ kind: "retry", data: { path }, message: expect.stringContaining(path) as string });
    // A refused try that is closed must not take the lock with it, as POSIX's own locks would let it.
    await expect(files.lock(path)).rejects.toMatchObject({ code: "LOCKED" });
    await lock.release();
    await lock.release();
    await (await files.lock(path)).release();
  });

  // macOS locks whole files only.
  test.skipIf(process.platform === "darwin")(
    "on a byte is another open file's no more until it's closed",
    async ({ dir }) => {
      const path = join(dir, "file");
      const first = await files.open(path, "create");
      const second = await files.open(path, "write");
      const far = 2 ** 52 + 12_345;
      expect([first.tryLockByte(far), second.tryLockByte(far), second.tryLockByte(far + 1)]).toEqual([
        true,
        false,
        true,
      ]);
      await first.close();
      expect(second.tryLockByte(far)).toBe(true);
      await second.close();
      expect(() => second.tryLockByte(far)).toThrow("EBADF");
    },
  );

  test("survives that the locked file is opened and closed beside it", async ({ dir }) => {
    const path = join(dir, "LOCK");
    const lock = await files.lock(path);
    await (await files.open(path, "write")).close();
    const { child, said } = await lockElsewhere(path);
    expect(said).toBe("LOCKED");
    child.kill("SIGKILL");
    await lock.release();
  });

  test("is refused to another process, which gets it afterwards", async ({ dir }) => {
    const path = join(dir, "LOCK");
    const lock = await files.lock(path);
    const first = await lockElsewhere(path);
    expect(first.said).toBe("LOCKED");
    await lock.release();
    const second = await lockElsewhere(path);
    expect(second.said).toBe("locked");
    second.child.kill("SIGKILL");
    await once(second.child, "exit");
  });

  test("dies with the process that held it", async ({ dir }) => {
    const path = join(dir, "LOCK");
    const { child, said } = await lockElsewhere(path);
    expect(said).toBe("locked");
    await expect(files.lock(path)).rejects.toMatchObject({ code: "LOCKED" });
    const exited = once(child, "exit");
    child.kill("SIGKILL");
    await exited;
    await (await files.lock(path)).release();
  });

  test("can't be had where no file can be", async ({ dir }) => {
    await expect(files.lock(join(dir, "none", "LOCK"))).rejects.toMatchObject({ code: "ENOENT" });
    await expect(files.lock(dir)).rejects.toMatchObject({ code: "EISDIR" });
  });
});
