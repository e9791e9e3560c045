import { NotInjected } from "@ehdb/harness";
import { spawn, spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";

const missing = "strace is missing or may not trace here: install it (Debian: apt-get install strace) and allow ptrace";

/** What strace is to make of some calls: `calls` as its -e takes them, `when` as `3` (the third of each thread) or `1+`. */
export interface Injection {
  readonly calls: string;
  readonly error: "EIO" | "ENOSPC";
  readonly when: string;
}

/** Throws NotInjected unless strace can change the results of calls on this machine. */
export function requireStrace(): void {
  const tried = spawnSync("strace", ["-qq", "-o", "/dev/null", "-e", "inject=fdatasync:error=EIO", "true"]);
  if (tried.status !== 0) throw new NotInjected(missing);
}

function injections(log: string): number {
  return existsSync(log) ? readFileSync(log, "utf8").split("(INJECTED)").length - 1 : 0;
}

/** Whose calls fail: of one process with all threads it has and will have, or only of some threads that there are. */
export type Traced = { readonly process: number } | { readonly threads: readonly number[] };

/** Lets calls of a running program fail, until `stop`. Counts each thread's calls from now on. */
export async function failFromNow(
  traced: Traced,
  { calls, error, when }: Injection,
  log: string,
): Promise<FailingCalls> {
  const attach =
    "process" in traced ? ["-f", "-p", `${traced.process}`] : traced.threads.flatMap((one) => ["-p", `${one}`]);
  const attachments = "process" in traced ? 1 : traced.threads.length;
  const args = ["-o", log, "-e", `trace=${calls}`, "-e", `inject=${calls}:error=${error}:when=${when}`, ...attach];
  const strace = spawn("strace", args, { stdio: ["ignore", "ignore", "pipe"] });
  const ended = new Promise<void>((resolve) => strace.on("close", () => resolve()));
  let said = "";
  await new Promise<void>((resolve, reject) => {
    strace.on("error", reject);
    strace.stderr.setEncoding("utf8").on("data", (text: string) => {
      said += text;
      if ((said.match(/ attached/g)?.length ?? 0) >= attachments) resolve();
    });
    void ended.then(() => reject(new Error(`strace ended at once: ${said}`)));
  });
  return new FailingCalls(log, async () => {
    strace.kill("SIGINT");
    await ended;
  });
}

export class FailingCalls {
  readonly #log: string;
  readonly #detach: () => Promise<void>;

  constructor(log: string, detach: () => Promise<void>) {
    this.#log = log;
    this.#detach = detach;
  }

  /** From now on nothing fails. Resolves with how many calls did; throws when none. */
  async stop(): Promise<number> {
    await this.#detach();
    const failed = injections(this.#log);
    if (failed === 0) throw new Error("strace was there and no call failed: this run shows nothing");
    return failed;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#detach();
  }
}
