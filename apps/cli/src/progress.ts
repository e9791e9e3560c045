import { SingleBar } from "cli-progress";

/** A bar on the terminal of standard error; nothing where there is no terminal. */
export class Progress {
  readonly #stream: NodeJS.WriteStream | undefined;
  #bar: SingleBar | undefined;

  constructor(stream: NodeJS.WriteStream | undefined) {
    this.#stream = stream;
  }

  /** What calls itself back with how far it is. */
  of(what: string): (done: number, total: number) => void {
    return (done, total) => this.#show(what, done, total);
  }

  /** Before anything else is written, and at the end. */
  clear(): void {
    this.#bar?.stop();
    this.#bar = undefined;
  }

  #show(what: string, done: number, total: number): void {
    if (this.#stream === undefined) return;
    if (this.#bar === undefined) {
      const format = `${what} [{bar}] {percentage}%`;
      this.#bar = new SingleBar({ stream: this.#stream, format, clearOnComplete: true, hideCursor: true });
      this.#bar.start(total, done);
    }
    this.#bar.setTotal(total);
    this.#bar.update(done);
  }
}
