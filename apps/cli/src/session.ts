import type { KeyRing } from "@ehdb/journal";
import { keysFrom } from "./keys.ts";
import type { GivenKeys, KeyOptions } from "./keys.ts";
import type { Io } from "./io.ts";
import { Progress } from "./progress.ts";

/** What every command is told. */
export interface CommonOptions extends KeyOptions {
  readonly json?: boolean;
  readonly quiet?: boolean;
}

/** One run of one command. */
export class Session {
  readonly io: Io;
  readonly json: boolean;
  readonly keys: GivenKeys | undefined;
  /** To read with; what is written, `writingKeys` says. */
  readonly encryption: { readonly encryption?: KeyRing };
  readonly progress: Progress;

  private constructor(io: Io, options: CommonOptions, keys: GivenKeys | undefined) {
    this.io = io;
    this.json = options.json === true;
    this.keys = keys;
    this.encryption = keys === undefined ? {} : { encryption: keys.ring };
    this.progress = new Progress(options.quiet === true ? undefined : io.terminal);
  }

  static async begin(io: Io, options: CommonOptions): Promise<Session> {
    return new Session(io, options, await keysFrom(io, options));
  }

  get signal(): AbortSignal {
    return this.io.signal;
  }

  /** The command's answer: for machines as one JSON document, for people as text. */
  async answer(facts: object, text: () => string): Promise<void> {
    this.progress.clear();
    await this.io.out(this.json ? `${JSON.stringify(facts)}\n` : text());
  }
}
