// Locks the file that the first argument names, says how that went, and holds the lock until it is killed.
import { realHost } from "@ehdb/host";

const path = process.argv[2] ?? "";
try {
  await realHost().files.lock(path);
  process.stdout.write("locked\n");
  process.stdin.resume();
} catch (error) {
  process.stdout.write(`${/** @type {{ code?: string }} */ (error).code}\n`);
}
