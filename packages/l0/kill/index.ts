import type { KillTarget, Survivor } from "@ehdb/harness";
import { openEngine } from "@ehdb/l0";
import type { DurableEngine } from "@ehdb/l0";
import { existsSync } from "node:fs";
import { isPayloadOf } from "./records.ts";
import { engineOptions, settingsOf } from "./settings.ts";
import type { KillSettings } from "./settings.ts";

export const kill: KillTarget = {
  tier: "l0",
  program: new URL("program.ts", import.meta.url),
  killsPerDirectory: 10,
  settings: settingsOf,
  defects: { "acknowledges before it is written": "lost", "commits twice": "doubled" },
  async *survivors(directory: string, settings: unknown): AsyncGenerator<Survivor> {
    // A program that was killed before it made the directory has acknowledged nothing.
    if (!existsSync(directory)) return;
    await using engine = await openEngine(engineOptions(directory, settings as KillSettings));
    const lasts = new Map<string, number>();
    for await (const records of engine.log("events").scan()) {
      for (const { sort, key, version, id = "", payload } of records) {
        const number = Number(id.slice(id.lastIndexOf(":") + 1));
        let last = lasts.get(key);
        if (last === undefined) lasts.set(key, (last = await engine.log("events").version(key)));
        const isWhole = version < last || (await stateOf(engine, key)) === number;
        yield { position: sort, id, intact: isWhole && isPayloadOf(id, payload) };
      }
    }
  },
};

/** What a writer's last commit put beside its last record: there with it, or not at all. */
async function stateOf(engine: DurableEngine, writer: string): Promise<number> {
  const value = await engine.map("state").get(writer);
  return value === undefined ? 0 : Number(Buffer.from(value.payload).toString());
}
