import { EhdbError } from "@ehdb/contracts";
import { simulatedHost } from "@ehdb/host";
import type { Host, SimulatedHost } from "@ehdb/host";
import { openEngine } from "@ehdb/l0";
import { expect, test } from "vitest";

/** A machine whose threads can't be started for a while. */
function withoutThreads(host: SimulatedHost): { host: Host; isBack: boolean } {
  const machine = { host: host as Host, isBack: false };
  const workers = new Proxy(host.workers, {
    get: (real, name: keyof Host["workers"]) => {
      if (name === "inThreads") return real.inThreads;
      if (name !== "run" || machine.isBack) return real[name].bind(real);
      return () => Promise.reject(new EhdbError("WORKER_FAILED", "no thread", { job: "sealPart" }));
    },
  });
  machine.host = { files: host.files, clock: host.clock, random: host.random, workers };
  return machine;
}

test("without threads commits go on until memory is full, then say why, and all goes on once there are threads", async () => {
  const host = simulatedHost({ seed: 1 });
  const machine = withoutThreads(host);
  const engine = await openEngine({
    dir: "/store",
    host: machine.host,
    sealMaxCommits: 5,
    datasets: [{ name: "events", order: "by-sort" }],
  });
  let commits = 0;
  const append = (): Promise<unknown> =>
    engine.commit((batch) => batch.append("events", "a", Buffer.from(`${commits++}`)));
  let refused: unknown;
  while (refused === undefined) await append().catch((error: unknown) => (refused = error));
  expect(refused).toMatchObject({ code: "WORKER_FAILED", kind: "retry" });
  expect(commits).toBeGreaterThan(10);
  expect(engine.stats().errors.WORKER_FAILED).toBe(1);
  expect([engine.state, engine.stats().seal_failed > 0, engine.stats().seals]).toEqual(["stalled", true, 0]);
  machine.isBack = true;
  await host.advance(1000);
  await append();
  await engine.seal();
  expect(engine.state).toBe("open");
  expect(engine.log("events").last).toBe(commits - 1);
  await engine.close();
});
