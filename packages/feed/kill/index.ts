import type { KillTarget } from "@ehdb/harness";
import { settingsOf } from "./settings.ts";
import type { KillSettings } from "./settings.ts";
import { survivorsOf } from "./survivors.ts";

export const kill: KillTarget = {
  tier: "feed",
  program: new URL("program.ts", import.meta.url),
  killsPerDirectory: 10,
  settings: settingsOf,
  defects: {
    "says that it's settled before it is": "doubled",
    "forgets a group": "doubled",
    "states the outcome beside the acknowledgement": "damaged",
    "acknowledges for a dead member": "lost",
  },
  survivors: (directory, settings) => survivorsOf(directory, settings as KillSettings),
};
