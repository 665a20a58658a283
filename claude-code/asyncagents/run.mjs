/**
 * Runs the command line for the plugin: that of the package which this folder belongs to, or, where Claude Code has
 * copied the plugin elsewhere, the one on the PATH.
 */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const own = join(dirname(fileURLToPath(import.meta.url)), "..", "..", "bin", "asyncagents.mjs");
if (existsSync(own)) {
  await import(pathToFileURL(own).href);
} else {
  const child = spawn("asyncagents", process.argv.slice(2), { stdio: "inherit" });
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  // Not 2, which would wake the model: without the command there is nothing to tell.
  child.on("error", () => process.exit(1));
  child.on("exit", (code) => process.exit(code ?? 1));
}
