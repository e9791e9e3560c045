import { type File, type SimulatedHost, simulatedHost } from "@ehdb/host";
import fc from "fast-check";
import { expect, test } from "vitest";
import { FileModel } from "./file-model.ts";

type Step =
  | { do: "write" | "writeAtSync"; position: number; length: number }
  | { do: "preallocate"; position: number; length: number }
  | { do: "burst"; position: number; length: number }
  | { do: "truncate"; bytes: number }
  | { do: "issueSync" }
  | { do: "awaitSyncs" };

const range = { position: fc.nat(20_000), length: fc.integer({ min: 1, max: 9_000 }) };
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.record({ do: fc.constantFrom("write" as const, "writeAtSync" as const), ...range }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constantFrom("preallocate" as const, "burst" as const), ...range }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant("truncate" as const), bytes: fc.nat(20_000) }) },
    { weight: 3, arbitrary: fc.record({ do: fc.constant("issueSync" as const) }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant("awaitSyncs" as const) }) },
  ),
  { minLength: 1, maxLength: 25 },
);

/** Takes the steps on a file and its model. Syncs are held, so that other steps come between issue and end. */
class Comparison {
  readonly model = new FileModel();
  readonly #host: SimulatedHost;
  readonly #file: File;
  #hold: { release(): void };
  #syncs: Promise<void>[] = [];
  #value = 0;

  constructor(host: SimulatedHost, file: File) {
    this.#host = host;
    this.#file = file;
    this.#hold = host.hold(["dataSync"]);
  }

  async take(step: Step): Promise<void> {
    if (step.do === "issueSync") this.#issueSync();
    else if (step.do === "awaitSyncs") await this.#awaitSyncs();
    else if (step.do === "truncate") {
      await this.#file.truncate(step.bytes);
      this.model.truncate(step.bytes);
    } else if (step.do === "preallocate") {
      await this.#file.preallocate(step.position, step.length);
      this.model.write(step.position, step.length, 0);
    } else if (step.do === "burst") {
      // More writes to a page than are told apart, with what was there before between them.
      for (let part = 0; part < 24; part++) await this.#write(step.position + part * 100, 30, "write");
    } else await this.#write(step.position, step.length, step.do);
  }

  async #write(position: number, length: number, how: "write" | "writeAtSync"): Promise<void> {
    this.#value = (this.#value % 255) + 1;
    const bytes = new Uint8Array(length).fill(this.#value);
    if (how === "write") await this.#file.write(bytes, position);
    else this.#file.writeAtSync(bytes, position);
    this.model.write(position, length, this.#value);
  }

  #issueSync(): void {
    const promised = this.model.states.length - 1;
    const synced = this.#file.dataSync().then(() => {
      this.model.promised = Math.max(this.model.promised, promised);
    });
    this.#syncs.push(synced);
  }

  async #awaitSyncs(): Promise<void> {
    this.#hold.release();
    await this.#syncs.shift();
    this.#hold = this.#host.hold(["dataSync"]);
  }
}

async function follow(host: SimulatedHost, all: readonly Step[]): Promise<FileModel> {
  const file = await host.files.open("/file", "create");
  await file.dataSync();
  await host.files.syncDirectory("/");
  const comparison = new Comparison(host, file);
  for (const step of all) await comparison.take(step);
  return comparison.model;
}

test("what a sync promised survives any crash, byte by byte", async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(), steps, async (seed, all) => {
      const host = simulatedHost({ seed, faults: { shortWrite: 0.1, slow: 0.1 } });
      const model = await follow(host, all);
      expect(Buffer.compare(host.content("/file"), model.newest)).toBe(0);
      const first = host.crash();
      const left = first.content("/file");
      expect(model.wrongIn(left)).toBeUndefined();
      // And a second crash changes nothing: all that is left is durable.
      expect(Buffer.compare(first.durableContent("/file"), left)).toBe(0);
      const second = first.crash();
      expect(Buffer.compare(second.content("/file"), left)).toBe(0);
      // What the file has grown by since is zeros, whatever was there before.
      await (await second.files.open("/file", "write")).truncate(left.length + 5000);
      expect(
        second
          .content("/file")
          .subarray(left.length)
          .every((byte) => byte === 0),
      ).toBe(true);
    }),
    { numRuns: 600 },
  );
});

test("what is durable is at any time a state that a crash may leave", async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(), steps, async (seed, all) => {
      const host = simulatedHost({ seed });
      const model = await follow(host, all);
      const durable = host.durableContent("/file");
      expect(model.wrongIn(durable)).toBeUndefined();
      expect(Buffer.compare(host.crash("nothing").content("/file"), durable)).toBe(0);
    }),
    { numRuns: 200 },
  );
});
