import { join } from "node:path";
import { expect, test } from "vitest";
import { openly, packageManager, quietly } from "../command.mjs";
import { rootManifest, root } from "../environment.mjs";

const node = process.execPath;

test("an exit code comes back as it is", async () => {
  expect(await openly([node, "--eval", "process.exit(7)"])).toBe(7);
  expect(await quietly([node, "--eval", "process.exit(3)"])).toMatchObject({ code: 3 });
});

test("a killed program counts as failed, with the code a shell would give", async () => {
  expect(await openly([node, "--eval", "process.kill(process.pid, 'SIGTERM'); setInterval(() => {}, 1000)"])).toBe(143);
});

test("arguments keep their spaces, quotes and dollars", async () => {
  const args = ["a b", "it's", '"', "$HOME", "*", ""];
  const { output } = await quietly([
    node,
    "--eval",
    "console.log(JSON.stringify(process.argv.slice(1)))",
    "--",
    ...args,
  ]);
  expect(JSON.parse(output)).toEqual(args);
});

test("a program that isn't there is named", async () => {
  await expect(quietly(["no-such-program"])).rejects.toThrow("no-such-program is not on PATH.");
});

test("a program that takes too long is ended", async () => {
  const { code } = await quietly([node, "--eval", "setInterval(() => {}, 1000)"], { timeoutMillis: 200 });
  expect(code).not.toBe(0);
});

test("the package manager is the one of package.json", () => {
  expect(packageManager(["install"])).toContain("install");
  expect(rootManifest().packageManager).toMatch(/^pnpm@\d+\.\d+\.\d+$/);
});

test("a verb that isn't one lists those that are, with exit code 2", async () => {
  const { code, output } = await quietly([node, join(root, "tooling/bootstrap/run.mjs"), "slefcheck"]);
  expect(code).toBe(2);
  expect(output).toContain("selfcheck, build, test, bench");
});
