import type { File, Host, OpenMode } from "@ehdb/host";
import { EhdbError } from "@ehdb/contracts";
import { describe, expect, test } from "vitest";
import { noCounts } from "../src/counters.ts";
import { Heads } from "../src/heads.ts";
import { Loaded } from "../src/loaded.ts";
import { newDataset } from "../src/meta.ts";
import type { LogPart } from "../src/part/log-part.ts";
import { Pins } from "../src/pins.ts";
import { Store } from "../src/store.ts";
import type { Dataset } from "../src/dataset.ts";
import { openOn, stage } from "./drive.ts";

/** The host, on which reads of one part stand still until they are let go. Jobs have files of their own. */
class StandingStill {
  readonly host: Host;
  /** Lets them go. */
  release!: () => void;
  reads = 0;

  constructor(host: Host, part: RegExp) {
    const gate = new Promise<void>((resolve) => (this.release = resolve));
    const slow = (file: File): File =>
      instead(file, "read", async (into: Uint8Array, position: number) => {
        this.reads++;
        await gate;
        return await file.read(into, position);
      });
    const files = instead(host.files, "open", async (path: string, mode: OpenMode) => {
      const file = await host.files.open(path, mode);
      return part.test(path) ? slow(file) : file;
    });
    this.host = instead(host, "files", files);
  }
}

/** `target` with another `property`. */
function instead<T extends object>(target: T, property: keyof T, value: unknown): T {
  return new Proxy(target, {
    get(_, name): unknown {
      const found: unknown = name === property ? value : Reflect.get(target, name, target);
      return typeof found === "function" ? found.bind(target) : found;
    },
  });
}

test("a head that was loaded from parts since merged away doesn't take the place of what was sealed meanwhile", async () => {
  const { host, engine: first } = await stage({ background: false });
  for (const key of ["a", "b"]) {
    await first.commit((batch) => batch.append("events", key, Buffer.from("first")));
    await first.seal();
  }
  await first.close();
  // Of `a` nothing is in memory, and the part that has it is slow.
  const slow = new StandingStill(host, /0+1\.part$/);
  const engine = await openOn(slow.host, { background: false });
  const append = async (key: string, signal?: AbortSignal): Promise<number | undefined> => {
    const stating = engine.commit(
      (batch) => batch.append("events", key, Buffer.from("more")),
      signal === undefined ? undefined : { signal },
    );
    return (await stating).appended[0]?.version;
  };
  const given = new AbortController();
  const ahead = append("b");
  // It waits for its turn, and what it needs begins to be loaded; then nobody wants it any more.
  const givenUp = append("a", given.signal);
  given.abort(new EhdbError("ABORTED", "given up", {}));
  await expect(givenUp).rejects.toMatchObject({ code: "ABORTED" });
  expect(await ahead).toBe(2);
  expect(slow.reads).toBeGreaterThan(0);
  await engine.merge();
  expect(await append("a")).toBe(2);
  await engine.seal();
  // Nothing but the load is left to be done.
  slow.release();
  await host.settle();
  expect(await append("a")).toBe(3);
});

describe("a head that was loaded", () => {
  /** A log whose only part answers when it's told to. */
  function drive(): { store: Store; dataset: Dataset; heads: Heads; answer: (last: number) => void } {
    const answers: ((found: { last: number }) => void)[] = [];
    const part = {
      lastVersionCached: () => undefined,
      versions: () => new Promise<{ last: number }>((resolve) => answers.push(resolve)),
    } as unknown as LogPart;
    const store = new Store(
      [newDataset(1, "events", "by-sort")],
      [{ name: "events", order: "by-sort" }],
      { logs: new Map([[1, [part]]]), maps: new Map() },
      1,
    );
    const pins = new Pins({ monotonic: () => 0 } as unknown as ConstructorParameters<typeof Pins>[0], 300);
    const heads = new Heads(store, 100, noCounts(), pins);
    const answer = (last: number): void => answers.splice(0).forEach((each) => each({ last }));
    return { store, dataset: store.datasets.get("events") as Dataset, heads, answer };
  }

  test("is known from then on", async () => {
    const { dataset, heads, answer } = drive();
    expect(heads.head(dataset, "a", new Loaded())).toBeUndefined();
    const load = heads.loadHead(dataset, "a", new Loaded());
    answer(7);
    await load;
    expect(heads.head(dataset, "a", new Loaded())).toBe(7);
  });

  test("isn't when a generation that leaves memory began to tell its heads meanwhile", async () => {
    const { dataset, heads, answer } = drive();
    const load = heads.loadHead(dataset, "a", new Loaded());
    dataset.fills++;
    heads.remember(dataset, [["a", 8]]);
    answer(7);
    await load;
    expect(heads.head(dataset, "a", new Loaded())).toBe(8);
  });

  test("isn't when there are other parts than those it was looked for in", async () => {
    const { store, dataset, heads, answer } = drive();
    const load = heads.loadHead(dataset, "a", new Loaded());
    store.sealed(0, []);
    heads.remember(dataset, [["a", 8]]);
    answer(7);
    await load;
    expect(heads.head(dataset, "a", new Loaded())).toBe(8);
  });
});
