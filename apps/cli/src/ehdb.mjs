#!/usr/bin/env node
// The command stands here before anything is built, so that an install can link it.
await import(new URL("../dist/main.js", import.meta.url).href);
