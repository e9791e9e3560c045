import { expect, test } from "vitest";
import { openOn, stage } from "./drive.ts";

/** Records under many keys that are in parts, whose versions nobody has in memory. */
async function cold(): Promise<Awaited<ReturnType<typeof stage>>> {
  const { host, engine } = await stage({ durability: "async", background: false });
  for (let number = 0; number < 50; number++)
    await engine.commit((batch) => batch.append("events", `key ${number}`, Buffer.from("one")));
  await engine.seal();
  await engine.close();
  return { host, engine: await openOn(host, { durability: "async", background: false }) };
}

test.each(["flush", "seal"] as const)("%s() covers commits that wait for what they rest on", async (call) => {
  const { engine } = await cold();
  const commits = Array.from({ length: 50 }, (_, number) =>
    engine.commit((batch) => batch.append("events", `key ${number}`, Buffer.from("two"))),
  );
  expect(engine.heads.accepted).toBe(50);
  await engine[call]();
  expect(call === "flush" ? engine.heads.durable : engine.heads.sealed).toBe(100);
  await Promise.all(commits);
  await engine.close();
});

test("a flush doesn't wait for commits that are called later", async () => {
  const { engine } = await cold();
  const call = (number: number): Promise<unknown> =>
    engine.commit((batch) => batch.append("events", `key ${number}`, Buffer.from("two")));
  const first = call(1);
  let isFlushed = false;
  const flushing = engine.flush().then(() => {
    isFlushed = true;
  });
  const others = (async () => {
    for (let number = 2; number < 50 && !isFlushed; number++) {
      void call(number);
      await new Promise<void>((resolve) => {
        setImmediate(resolve);
      });
    }
  })();
  await flushing;
  await Promise.all([first, others]);
  expect(engine.heads.durable).toBeGreaterThan(50);
  await engine.close();
});

test("a flush ends with the commits that it waits for when the disk fails", async () => {
  const { host, engine } = await cold();
  host.failNext("read", "EIO", /\.part$/);
  const failing = engine.commit((batch) => batch.append("events", "key 1", Buffer.from("two")));
  const [committed, flushed] = await Promise.allSettled([failing, engine.flush()]);
  expect(committed).toMatchObject({ status: "rejected", reason: { code: "IO_ERROR" } });
  expect(flushed).toMatchObject({ value: 50 });
  await engine.close();
});
