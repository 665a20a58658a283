/**
 * Brings node_modules in line with package-lock.json, and does nothing if it already is. A stamp inside node_modules
 * holds the hash of the lock file that was installed.
 */
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { runChild } from "./run-child.mjs";

/** Installs if needed. Returns npm's exit code, or 0 if there was nothing to do. */
export async function installIfNeeded(root) {
  const lockFile = join(root, "package-lock.json");
  const stampFile = join(root, "node_modules", ".asyncagents-installed");
  const hash = createHash("sha256").update(readFileSync(lockFile)).digest("hex");
  if (existsSync(stampFile) && readFileSync(stampFile, "utf8") === hash) return 0;
  if (!installedByHand(root, lockFile)) {
    const code = await npmInstall(root);
    if (code !== 0) return code;
  }
  writeFileSync(stampFile, hash);
  return 0;
}

/** True if npm's record of installed packages has every package of the lock file in the locked version. */
export function isInstalled(lock, installed) {
  return Object.entries(lock.packages).every(([path, wanted]) => {
    if (path === "") return true;
    const found = installed.packages[path];
    return found ? found.version === wanted.version : Boolean(wanted.optional || wanted.devOptional);
  });
}

// After an `npm install` by the user no second one is needed; it would empty node_modules first.
function installedByHand(root, lockFile) {
  const hidden = join(root, "node_modules", ".package-lock.json");
  if (!existsSync(hidden)) return false;
  return isInstalled(JSON.parse(readFileSync(lockFile, "utf8")), JSON.parse(readFileSync(hidden, "utf8")));
}

// Not `npm ci`: it rejects a lock file without the optional packages of other platforms, which a registry may not
// carry. With --no-save npm follows the lock file and changes neither it nor package.json.
async function npmInstall(root) {
  const started = Date.now();
  const seconds = () => Math.round((Date.now() - started) / 1000);
  console.error("Installing what package-lock.json names (npm install --no-save); this takes about a minute.");
  const ticking = setInterval(() => console.error(`  still installing (${seconds()} s)`), 10_000);
  const npm = npmCommand();
  const args = [...npm.args, "install", "--no-save", "--include=dev", "--include=optional"];
  try {
    const code = await runChild(npm.command, args, { cwd: root });
    console.error(code === 0 ? `Installed in ${seconds()} s.` : `npm install failed with exit code ${code}.`);
    return code;
  } finally {
    clearInterval(ticking);
  }
}

// npm is a Node program: started as one, it needs no shell, which Windows would require for npm.cmd.
function npmCommand() {
  const running = process.env.npm_execpath;
  if (running && /^npm(-cli)?\.c?js$/.test(basename(running))) return { command: process.execPath, args: [running] };
  const bundled = join(dirname(process.execPath), "node_modules", "npm", "bin", "npm-cli.js");
  if (existsSync(bundled)) return { command: process.execPath, args: [bundled] };
  return { command: process.platform === "win32" ? "npm.cmd" : "npm", args: [] };
}
