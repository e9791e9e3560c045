import { run } from "@ehdb/cli";
import { realHost } from "@ehdb/host";

export interface Answer {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** The program's function, from the sources. */
export async function answer(
  args: readonly string[],
  given: {
    readonly env?: Record<string, string>;
    readonly lines?: readonly string[];
    readonly files?: Record<string, Uint8Array>;
  } = {},
): Promise<Answer> {
  const { env = {}, lines = [], files = {} } = given;
  let [out, err] = ["", ""];
  const code = await run(args, {
    host: realHost(),
    env,
    signal: new AbortController().signal,
    terminal: undefined,
    out: async (text) => void (out += text),
    err: (text) => void (err += text),
    async *lines() {
      yield* lines;
    },
    bytes: async (path) => files[path] ?? new Uint8Array(),
  });
  return { code, out, err };
}

export function linesOf(text: string): Record<string, unknown>[] {
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}
