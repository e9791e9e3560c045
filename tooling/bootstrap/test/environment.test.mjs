import { expect, test } from "vitest";
import { insidePnpm, satisfies } from "../environment.mjs";

test("a Node older than the range is refused, a newer one accepted", () => {
  expect(satisfies("20.18.3", ">=20.19")).toBe(false);
  expect(satisfies("18.20.0", ">=20.19")).toBe(false);
  expect(satisfies("20.19.0", ">=20.19")).toBe(true);
  expect(satisfies("22.1.0", ">=20.19")).toBe(true);
});

test("pnpm is recognised by its user agent, npm is not", () => {
  expect(insidePnpm({ npm_config_user_agent: "pnpm/12.4.2 npm/? node/v20.20.2 linux x64" })).toBe(true);
  expect(insidePnpm({ npm_config_user_agent: "npm/10.8.2 node/v20.20.2 linux x64" })).toBe(false);
  expect(insidePnpm({})).toBe(false);
});
