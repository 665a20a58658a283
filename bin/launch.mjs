/**
 * The entry point of the npm scripts: installs what is missing, finds Bun, and runs the script of that name. It runs
 * on plain Node 20 in a fresh clone, so it imports nothing from node_modules.
 */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { bunArguments, findBun } from "./find-bun.mjs";
import { installIfNeeded } from "./install.mjs";
import { endsWithThis, runChild } from "./run-child.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const scripts = {
  demo: "scripts/demo.ts",
  test: "scripts/test.ts",
  build: "scripts/build.ts",
  check: "scripts/check.ts",
  bench: "bench/main.ts",
  chaos: "scripts/chaos.ts",
  measure: "scripts/measure.ts",
  mutate: "scripts/mutate.ts",
  release: "scripts/release.ts",
  screenshots: "scripts/screenshots.ts",
  simulate: "simulation/main.ts",
  strength: "simulation/strength/main.ts",
  cli: "src/cli/main.ts",
  api: "scripts/api-report.ts",
  packages: "scripts/packages.ts",
  agents: "scripts/agents.ts",
};

async function launch([name, ...args]) {
  const script = Object.hasOwn(scripts, name ?? "") ? scripts[name] : undefined;
  if (!script) return fail(`Usage: node bin/launch.mjs <${Object.keys(scripts).join("|")}> [arguments]`);
  if (!existsSync(join(root, script)))
    return fail(`"${name}" comes with a later version: ${script} does not exist yet.`);
  const code = await installIfNeeded(root);
  if (code !== 0) return code;
  const bun = findBun(root);
  if (bun.problem) return fail(bun.problem);
  // The command line works in the folder it was called in. npm changes to the package's folder and passes the
  // original one in INIT_CWD.
  const cwd = name === "cli" ? (process.env.INIT_CWD ?? process.cwd()) : root;
  const env = name === "cli" ? endsWithThis() : process.env;
  return runChild(bun.path, [...bunArguments(root), join(root, script), ...args], { cwd, env });
}

function fail(message) {
  console.error(message);
  return 1;
}

process.exitCode = await launch(process.argv.slice(2));
