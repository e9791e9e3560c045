#!/usr/bin/env node
// The command stands here before anything is built, so that an install can link it.
import { existsSync } from "node:fs";

const main = new URL("../dist/main.js", import.meta.url);
if (existsSync(main)) await import(main.href);
else {
  process.stderr.write("error: ehdb isn't built yet. In the repository's folder, `npm run ehdb -- help` builds it\n");
  process.exitCode = 3;
}
