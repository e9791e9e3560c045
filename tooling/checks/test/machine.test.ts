import { execFile } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { PlantedWorkspace } from "./planted-workspace.ts";

const repository = join(import.meta.dirname, "../../..");

function check(root: string): Promise<{ code: number; output: string }> {
  return new Promise((resolve) => {
    const args = ["--import", "tsx", join(repository, "tooling/checks/machine.ts"), root];
    execFile(process.execPath, args, { cwd: repository }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), output: stdout + stderr });
    });
  });
}

test("an engine that reads the clock fails the check, and the real host may", async () => {
  using workspace = new PlantedWorkspace();
  workspace.addPackage("packages/host");
  workspace.addPackage("packages/kv");
  workspace.write("packages/host/src/real/clock.ts", "export const now = (): number => Date.now();\n");
  workspace.write("packages/host/src/simulated/pump.ts", "export const turn: unknown = setImmediate;\n");
  workspace.write("packages/kv/test/clock.test.ts", "Date.now();\n");
  expect(await check(workspace.root)).toMatchObject({ code: 0 });

  workspace.write("packages/kv/src/deep/clock.ts", "\nexport const now = (): number => Date.now();\n");
  const { code, output } = await check(workspace.root);
  expect(code).toBe(1);
  expect(output).toContain("packages/kv/src/deep/clock.ts:2:34");
});
