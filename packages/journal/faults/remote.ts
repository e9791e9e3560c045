import { EhdbError } from "@ehdb/contracts";
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Performer } from "./program.ts";
import type { Order, Refusal, Telling } from "./telling.ts";

const program = fileURLToPath(new URL("program.ts", import.meta.url));
/** What an order may take; whoever is stopped or hangs is found out by it. */
const answerMillis = 60_000;

export interface RemoteOptions {
  /** Node's options: how the program resolves and reads TypeScript. */
  readonly nodeOptions: readonly string[];
  /** A command that starts the program's own, such as strace's. */
  readonly through?: readonly string[];
  /** The threads that do the file work, 4 when it isn't given. With one, calls to the kernel come one after another. */
  readonly threads?: number;
}

/** A journal, or a reader, in a process of its own. */
export class Remote {
  readonly heard: Telling[] = [];
  readonly #child: ChildProcess;
  readonly #ended: Promise<void>;
  #errors = "";
  #rest = "";
  #numbers = 0;
  #listeners = new Set<() => void>();

  private constructor({ nodeOptions, through = [], threads = 4 }: RemoteOptions) {
    const [command, ...args] = [...through, process.execPath, ...nodeOptions, program];
    const env = { ...process.env, UV_THREADPOOL_SIZE: String(threads), UV_USE_IO_URING: "0" };
    this.#child = spawn(command, args, { stdio: ["pipe", "pipe", "pipe"], env });
    this.#child.stdout?.setEncoding("utf8").on("data", (text: string) => this.#hear(text));
    this.#child.stderr?.setEncoding("utf8").on("data", (text: string) => (this.#errors += text));
    this.#child.stdin?.on("error", () => {});
    this.#ended = new Promise((resolve) => {
      this.#child.on("error", (error) => (this.#errors += String(error)));
      this.#child.on("close", () => resolve());
    });
  }

  static async start(options: RemoteOptions): Promise<Remote> {
    const remote = new Remote(options);
    await remote.until(() => remote.heard.some(({ says }) => says === "ready"), "it starts");
    return remote;
  }

  /** The process that was started: node's, or that of the command it was started through. */
  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** All its threads but the one that runs JavaScript: among them those that do the file work. */
  get otherThreads(): number[] {
    return readdirSync(`/proc/${this.pid}/task`)
      .map(Number)
      .filter((thread) => thread !== this.pid);
  }

  /** Does `name` there. Throws what it threw: an EhdbError, or for anything else an Error. */
  async ask<Name extends keyof Performer>(
    name: Name,
    ...values: Parameters<Performer[Name]>
  ): Promise<Awaited<ReturnType<Performer[Name]>>> {
    const number = ++this.#numbers;
    const order: Order = { number, name, values };
    this.#child.stdin?.write(`${JSON.stringify(order)}\n`);
    const isAnswer = (telling: Telling): boolean => telling.says === "answer" && telling.number === number;
    await this.until(() => this.heard.some(isAnswer), `it answers "${name}"`);
    const [answer] = this.heard.splice(this.heard.findIndex(isAnswer), 1) as [Extract<Telling, { says: "answer" }>];
    if (answer.refusal !== undefined) throw errorOf(answer.refusal);
    return answer.value as Awaited<ReturnType<Performer[Name]>>;
  }

  /** Resolves when what it has said makes `isTrue`; throws when that throws, when it ended before, or after a minute. */
  async until(isTrue: () => boolean, what: string): Promise<void> {
    let check: (() => void) | undefined;
    let timer: NodeJS.Timeout | undefined;
    const told = new Promise<void>((resolve, reject) => {
      check = () => {
        try {
          if (isTrue()) resolve();
        } catch (error) {
          reject(error);
        }
      };
      this.#listeners.add(check);
      timer = setTimeout(() => reject(new Error(`waited ${answerMillis} ms in vain until ${what}`)), answerMillis);
      check();
    });
    const ended = this.#ended.then(() => {
      if (!isTrue()) throw new Error(`the program ended before ${what}:\n${this.#errors}`);
    });
    try {
      await Promise.race([told, ended]);
    } finally {
      clearTimeout(timer);
      if (check !== undefined) this.#listeners.delete(check);
    }
  }

  signal(signal: "SIGSTOP" | "SIGCONT"): void {
    this.#child.kill(signal);
  }

  /** SIGKILL; resolves when it is gone and all that it said has been heard. */
  async kill(): Promise<void> {
    this.#child.kill("SIGKILL");
    // When it was started through another command, that one is gone now: the program ends with its input.
    this.#child.stdin?.destroy();
    await this.#ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
  }

  #hear(text: string): void {
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop() ?? "";
    for (const line of lines) this.heard.push(JSON.parse(line) as Telling);
    for (const listener of this.#listeners) listener();
  }
}

function errorOf({ code, message, data }: Refusal): Error {
  return code === undefined ? new Error(message) : new EhdbError(code, message, data);
}
