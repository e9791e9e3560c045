import { SingleBar } from "cli-progress";

/** A bar on the terminal's standard error; nothing where there is no terminal. */
export class Progress {
  #bar: SingleBar | undefined;
  #verb: string | undefined;
  readonly #stream: NodeJS.WriteStream | undefined;

  constructor(stream: NodeJS.WriteStream, wanted: boolean) {
    this.#stream = wanted && stream.isTTY ? stream : undefined;
  }

  show(verb: string, done: number, total: number): void {
    if (this.#stream === undefined) return;
    if (this.#bar === undefined || this.#verb !== verb) {
      this.clear();
      this.#verb = verb;
      this.#bar = new SingleBar({
        stream: this.#stream,
        format: `${verb} [{bar}] {percentage}%`,
        clearOnComplete: true,
        hideCursor: true,
      });
      this.#bar.start(total, done);
      return;
    }
    this.#bar.setTotal(total);
    this.#bar.update(done);
  }

  /** Before anything else is written to the terminal, and at the end. */
  clear(): void {
    this.#bar?.stop();
    this.#bar = undefined;
  }
}
