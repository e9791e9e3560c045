// Commits numbered records as fast as it can, and tells the number of each that is durable. It is killed.
import { openEngine } from "@ehdb/l0";

const [dir = ""] = process.argv.slice(2);
const engine = await openEngine({
  dir,
  datasets: [
    { name: "events", order: "by-sort" },
    { name: "state", order: "by-key" },
  ],
  sealMaxBytes: 64 * 1024,
  lockTimeoutMillis: 10_000,
});
for (let number = engine.log("events").last + 1; ; number++) {
  const text = `${number} `.padEnd(500, "x");
  await engine.commit((batch) => {
    batch.append("events", `stream-${number % 10}`, Buffer.from(text));
    batch.put("state", "number", Buffer.from(String(number)));
  });
  process.stdout.write(`${number}\n`);
}
