// What was run, by the release that wrote format version 1, to make the store in this directory.
import { openEngine } from "@ehdb/l0";
const [, , dir = "store"] = process.argv;
const engine = await openEngine({
  dir,
  datasets: [
    { name: "orders", order: "by-sort" },
    { name: "stock", order: "by-key" },
  ],
  sealMaxBytes: 65536,
  reserveBytes: 0,
});
for (let i = 1; i <= 60; i++) {
  await engine.commit((b) => {
    b.append("orders", `customer-${i % 7}`, Buffer.from(`order ${i}`), `id-${i}`);
    b.put("stock", `article-${i % 11}`, Buffer.from(`left ${i}`));
    if (i % 9 === 0) b.delete("stock", `article-${i % 5}`);
  });
  if (i === 25 || i === 50) await engine.seal();
}
await engine.close();
