import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { fileURLToPath } from "node:url";
import { parseKillLine } from "./kill-protocol.ts";
import type { KillLine } from "./kill-protocol.ts";
import type { KillLoad } from "./kill-target.ts";

/** The program under load, and what it says until it's killed. */
export class KilledChild {
  readonly #child: ChildProcess;
  readonly #ended: Promise<void>;
  readonly #waiting = new Map<KillLine["says"], () => void>();
  readonly #said = new Set<KillLine["says"]>();
  #rest = "";
  #errors = "";
  #killed = false;

  constructor(program: URL, nodeOptions: readonly string[], load: KillLoad, hear: (line: KillLine) => void) {
    const args = [...nodeOptions, fileURLToPath(program), JSON.stringify(load)];
    this.#child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"] });
    this.#child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      const lines = (this.#rest + text).split("\n");
      this.#rest = lines.pop() ?? "";
      for (const line of lines) this.#heard(parseKillLine(line), hear);
    });
    this.#child.stderr?.setEncoding("utf8").on("data", (text: string) => (this.#errors += text));
    this.#ended = new Promise((resolve, reject) => {
      this.#child.on("error", reject);
      this.#child.on("close", (code, signal) => {
        if (this.#killed) resolve();
        else
          reject(
            new Error(
              `the program ended by itself (${signal ?? `exit code ${code}`}) instead of being killed:\n${this.#errors}`,
            ),
          );
      });
    });
    this.#ended.catch(() => {});
  }

  /** Resolves when the program has said it; rejects when it ends before. */
  async says(what: KillLine["says"]): Promise<void> {
    if (this.#said.has(what)) return;
    const said = new Promise<void>((resolve) => this.#waiting.set(what, resolve));
    await Promise.race([
      said,
      this.#ended.then(() => Promise.reject(new Error(`the program was killed before it said "${what}"`))),
    ]);
  }

  /** SIGKILL; resolves when the process is gone and all that it said has been heard. */
  async kill(): Promise<void> {
    this.#killed = true;
    this.#child.kill("SIGKILL");
    await this.#ended;
  }

  #heard(line: KillLine, hear: (line: KillLine) => void): void {
    hear(line);
    this.#said.add(line.says);
    this.#waiting.get(line.says)?.();
  }
}
