import { describe, expect, it } from "vitest";
import type { SimulatedHost } from "@ehdb/host";
import type { Journal } from "@ehdb/journal";
import { bytes, codeOf, collect, fill, MIB, openAt, range, sequencesOf, stage } from "./drive.ts";

/** A journal whose disk holds on to a write or a sync, and has failed elsewhere meanwhile. */
async function poisonedWith(
  kind: "write" | "dataSync",
): Promise<{ host: SimulatedHost; journal: Journal; release: () => void; outcome: Promise<string> }> {
  const { host, journal } = await stage({ reserveBytes: 0 });
  await fill(journal, 3, 100);
  await journal.ready(3 * MIB);
  await host.settle();
  const held = host.hold([kind], /0{15}1\.segment/);
  // More than is written in one turn: it goes out in asynchronous slices.
  const outcome = codeOf(() => journal.appendDurable(bytes(3 * MIB, 4)));
  await host.settle();
  expect(journal.state).toBe("open");
  host.failNext("preallocate");
  expect(await codeOf(() => journal.ready(12 * MIB))).toBe("POISONED");
  return { host, journal, outcome, release: () => held.release() };
}

it("while the next segment is being made ready reopen() waits for that, too, and makes another", async () => {
  const { host, journal } = await stage({ segmentBytes: MIB, reserveBytes: 0 });
  const held = host.hold(["rename"]);
  // Past the point where the next one is begun.
  await fill(journal, 9, 100_000);
  await host.settle();
  host.failNext("dataSync");
  expect(await codeOf(journal.appendDurable(bytes(40)))).toBe("OUTCOME_UNKNOWN");
  const { list } = host.operations;
  let done = false;
  const reopened = journal.reopen().then(() => (done = true));
  await host.advance(1000);
  expect({ done, looks: host.operations.list - list }).toEqual({ done: false, looks: 0 });
  held.release();
  await reopened;
  await fill(journal, 20, 100_000);
  expect(await sequencesOf(journal.scan())).toEqual(range(1, journal.last));
  await journal.close();
  const again = await openAt(host, { reserveBytes: 0 });
  expect(again.recovery.voidSegments).toBe(0);
  await again.close();
});

describe.each(["write", "dataSync"] as const)("while a %s is in flight", (kind) => {
  it("reopen() looks at nothing: it waits for it, and recovers then", async () => {
    const { host, journal, outcome, release } = await poisonedWith(kind);
    expect(await outcome).toBe("OUTCOME_UNKNOWN");
    const { list, create } = host.operations;
    let done = false;
    const reopened = journal.reopen().then(() => (done = true));
    await host.advance(1000);
    expect({ done, looks: host.operations.list - list, made: host.operations.create - create }).toEqual({
      done: false,
      looks: 0,
      made: 0,
    });
    release();
    await reopened;
    // What was in flight has come to its end before: it's seen whole.
    expect(await sequencesOf(journal.scan())).toEqual(range(1, 4));
    await fill(journal, 2, 100);
    const shown = (await collect(journal.scan())).map(({ data }) => data.length);
    const next = await openAt(host.crash());
    expect((await collect(next.scan())).map(({ data }) => data.length)).toEqual(shown);
    await next.close();
  });

  it("close() doesn't let the directory go", async () => {
    const { host, journal, release } = await poisonedWith(kind);
    let done = false;
    const closed = journal.close().then((report) => {
      done = true;
      return report;
    });
    await host.advance(1000);
    expect(done).toBe(false);
    expect(await codeOf(() => openAt(host))).toBe("LOCKED");
    release();
    expect((await closed).state).toBe("partially durable");
    const again = await openAt(host);
    expect(await sequencesOf(again.scan())).toEqual(range(1, 4));
    await again.close();
  });
});
