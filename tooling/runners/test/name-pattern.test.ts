import { describe, expect, it } from "vitest";
import { namePattern } from "../src/name-pattern.ts";

const names = ["journal.append.call", "journal.append.async", "journal.durable.1", "journal.durable.1024", "kv.put.1k"];
const chosen = (pattern?: string): string[] => names.filter(namePattern(pattern));

describe("--only", () => {
  it("takes everything when it isn't given", () => {
    expect(chosen()).toEqual(names);
  });

  it("takes a name, or all that begin with it part by part", () => {
    expect(chosen("journal.durable.1")).toEqual(["journal.durable.1"]);
    expect(chosen("journal.append")).toEqual(["journal.append.call", "journal.append.async"]);
    expect(chosen("journal.app")).toEqual([]);
  });

  it("takes anything for a star", () => {
    expect(chosen("*.append.*")).toEqual(["journal.append.call", "journal.append.async"]);
    expect(chosen("journal.durable.1*")).toEqual(["journal.durable.1", "journal.durable.1024"]);
  });

  it("refuses what can't be a name", () => {
    expect(() => namePattern("journal (append)")).toThrow(/not "journal \(append\)"/);
  });
});
