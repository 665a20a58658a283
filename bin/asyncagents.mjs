#!/usr/bin/env node
/** The `asyncagents` command, run by Node: finds Bun and runs the command line with it. */
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { bunArguments, findBun } from "./find-bun.mjs";
import { endsWithThis, runChild } from "./run-child.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const bun = findBun(root);
if (bun.problem) console.error(bun.problem);
process.exitCode = bun.problem
  ? 1
  : await runChild(bun.path, [...bunArguments(root), join(root, "src", "cli", "main.ts"), ...process.argv.slice(2)], {
      env: endsWithThis(),
    });
