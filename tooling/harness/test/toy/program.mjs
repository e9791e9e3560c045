// A log of lines in a file, killed by the test of the kill driver. Its writer is one; it syncs before it acknowledges, unless
// it is told to be wrong.
import { existsSync, fdatasyncSync, openSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";

const { directory, incarnation, defect } = JSON.parse(process.argv[2] ?? "");
const path = join(directory, "log");

console.log("opening");
const whole = existsSync(path) ? readFileSync(path, "utf8").split("\n").slice(0, -1) : [];
let position = whole.length;
const file = openSync(path, "w");
writeSync(file, whole.map((line) => `${line}\n`).join(""));
console.log("open");

/** @type {{ id: string, position: number }[]} */
const held = [];
for (let number = 1; ; number++) {
  const id = `${incarnation}.0:${number}`;
  position++;
  if (defect === "acknowledges first") {
    held.push({ id, position });
    console.log(`acknowledged ${position} ${id}`);
    // Whenever the kill comes, some of what was acknowledged is still held.
    if (held.length > 50) writeSync(file, `${held.shift()?.id}\n`);
  } else {
    writeSync(file, `${id}\n`);
    if (defect === "writes twice") {
      writeSync(file, `${id}\n`);
      console.log(`acknowledged ${position} ${id}`);
      position++;
      continue;
    }
    fdatasyncSync(file);
    console.log(`acknowledged ${position} ${id}`);
  }
  await new Promise(setImmediate);
}
