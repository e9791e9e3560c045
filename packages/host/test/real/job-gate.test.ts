import { giveUp, goBefore, jobGate, passGate } from "@ehdb/host";
import { expect, test } from "vitest";

test("a job passes once all who go before it are done", async () => {
  const gate = jobGate();
  await passGate(gate);
  const dones = [goBefore(gate), goBefore(gate)];
  let isPassed = false;
  const passing = passGate(gate).then(() => (isPassed = true));
  dones[0]?.();
  await Promise.resolve();
  expect(isPassed).toBe(false);
  dones[1]?.();
  await passing;
});

test("a job that is given up is told so at the gate, also while it waits there", async () => {
  const gate = jobGate();
  goBefore(gate);
  const passing = passGate(gate);
  giveUp(gate);
  await expect(passing).rejects.toMatchObject({ code: "ABORTED" });
  await expect(passGate(gate)).rejects.toMatchObject({ code: "ABORTED" });
});
