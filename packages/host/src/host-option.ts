import { invalidOption } from "@ehdb/contracts";
import type { Host } from "./host.ts";
import { realHost } from "./real/host.ts";

/** What is called of a host. */
const doors = {
  files: ["open", "rename", "remove", "list", "stat", "makeDirectory", "syncDirectory", "watch", "lock"],
  clock: ["now", "monotonic", "timer", "defer", "yield"],
  random: ["bytes", "id"],
  workers: ["run"],
} as const satisfies { [Door in keyof Host]: readonly (keyof Host[Door])[] };

/** The host that was given, or this machine. INVALID_OPTION for what isn't one. */
export function hostOf(host: Host | undefined): Host {
  if (host === undefined) return realHost();
  const given = Object(host) as Partial<Record<keyof Host, object>>;
  for (const [door, methods] of Object.entries(doors)) {
    const behind = Object(given[door as keyof Host]) as Readonly<Record<string, unknown>>;
    const missing = methods.find((method) => typeof behind[method] !== "function");
    if (missing === undefined) continue;
    const wanted = "a Host: realHost() or simulatedHost() of @ehdb/host";
    throw invalidOption("host", host, `${wanted} (${door}.${missing}() is missing)`);
  }
  return host;
}
