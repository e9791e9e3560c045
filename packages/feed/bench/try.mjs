import { openEngine } from "@ehdb/l0";
import { feedDatasets, feedOn, logSource } from "@ehdb/feed";
import { mkdtempSync, rmSync } from "node:fs";
const N = Number(process.argv[2] ?? 200000);
const batches = (process.argv[3] ?? "1,256,1024").split(",").map(Number);
const dir = mkdtempSync("/tmp/feedtry-");
const engine = await openEngine({ dir, datasets: [{ name: "jobs", order: "by-sort" }, ...feedDatasets] });
const payload = Buffer.alloc(100, 7);
for (let i = 0; i < N; i += 1000)
  await engine.commit((b) => {
    for (let k = 0; k < 1000; k++) b.append("jobs", `k${k % 97}`, payload);
  });
const source = logSource(engine, "jobs");
const feed = await feedOn(engine, { source });
for (let k = 0; k < 3; k++) {
  const t0 = performance.now();
  let n = 0;
  for await (const b of source.read(1, 1e9)) n += b.length;
  console.log("bare scan", Math.round((n / (performance.now() - t0)) * 1000));
}
for (let k = 0; k < 3; k++) {
  const t0 = performance.now();
  let n = 0;
  while (n < N) for await (const b of source.read(n + 1, 1024)) n += b.length;
  console.log("bare scan 1024", Math.round((n / (performance.now() - t0)) * 1000));
}
for (let k = 0; k < 3; k++) {
  const t0 = performance.now();
  let n = 0;
  while (n < N) for await (const b of source.read(n + 1, 16384)) n += b.length;
  console.log("bare scan 16384", Math.round((n / (performance.now() - t0)) * 1000));
}
for (let round = 0; round < 3; round++)
  for (const limit of batches) {
    const g = await feed.createGroup(`g${limit}-${round}`);
    const start = performance.now();
    let n = 0;
    let last = Promise.resolve();
    let fetches = 0;
    for (;;) {
      const ms = await g.fetch({ member: "m", limit });
      if (ms.length === 0) break;
      fetches++;
      for (const m of ms) last = m.ack();
      n += ms.length;
    }
    await last;
    const s = (performance.now() - start) / 1000;
    console.log(limit, Math.round(n / s), "/s", n, fetches, (await g.info()).lag);
  }
await feed.close();
await engine.close();
rmSync(dir, { recursive: true });
