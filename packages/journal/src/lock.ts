import { isEhdbError } from "@ehdb/contracts";
import type { Host, Lock } from "@ehdb/host";
import { join } from "node:path";

const retryMillis = 20;

/** The kernel's lock on the journal's directory. LOCKED when somebody holds it for longer than `timeoutMillis`. */
export async function lockDirectory(host: Host, dir: string, timeoutMillis: number): Promise<Lock> {
  const { clock } = host;
  const end = clock.monotonic() + timeoutMillis;
  for (;;) {
    try {
      return await host.files.lock(join(dir, "LOCK"));
    } catch (error) {
      const left = end - clock.monotonic();
      if (!isEhdbError(error, "LOCKED") || left <= 0) throw error;
      await new Promise<void>((resolve) => clock.timer(Math.min(retryMillis, left), resolve, true));
    }
  }
}
