/**
 * Finds a Bun that actually runs and is recent enough, without relying on install scripts. Looks in the optional
 * dependency first, then on the PATH. Plain Node 20; installs nothing.
 */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";

export const MINIMUM_BUN = "1.3.14";

/**
 * Bun's arguments before the script. By default Bun runs what a `bunfig.toml` in the current folder names and loads
 * an `.env` there, and that folder may be anyone's repository. It would also fetch packages that a module imports
 * and that are not on the disk.
 */
export function bunArguments(root) {
  return ["--no-env-file", "--no-install", `--config=${join(root, "bin", "empty-bunfig.toml")}`];
}

/** True when dotted version `found` is `wanted` or later. A canary suffix is ignored. */
export function isAtLeast(found, wanted) {
  const numbers = (version) => version.split(/[-+]/)[0].split(".").map(Number);
  const [have, want] = [numbers(found), numbers(wanted)];
  for (let i = 0; i < 3; i++) {
    const difference = (have[i] ?? 0) - (want[i] ?? 0);
    if (Number.isNaN(difference)) return false;
    if (difference !== 0) return difference > 0;
  }
  return true;
}

/** The packages that may contain Bun's binary for a platform, the most generic first. */
export function bunPackages(platform, arch) {
  const system = platform === "win32" ? "windows" : platform;
  const machine = arch === "arm64" ? "aarch64" : arch;
  const suffixes = system === "linux" ? ["", "-musl", "-baseline", "-musl-baseline"] : ["", "-baseline"];
  return suffixes.map((suffix) => `@oven/bun-${system}-${machine}${suffix}`);
}

/**
 * Every place where Bun may be, best first. Bun's install script moves the binary from the second place to the third.
 */
export function bunCandidates(root, { platform, arch, path }) {
  const name = platform === "win32" ? "bun.exe" : "bun";
  const modules = ancestors(root).map((folder) => join(folder, "node_modules"));
  return [
    ...modules.flatMap((folder) => bunPackages(platform, arch).map((pkg) => join(folder, pkg, "bin", name))),
    ...modules.map((folder) => join(folder, "bun", "bin", "bun.exe")),
    ...path
      .split(delimiter)
      .filter(Boolean)
      .map((folder) => join(folder, name)),
  ];
}

/** Returns `{ path, version }` of the first usable Bun, or `{ problem }`: a text that says what to do. */
export function findBun(root) {
  const { platform, arch, env } = process;
  const rejected = [];
  for (const path of bunCandidates(root, { platform, arch, path: env.PATH ?? env.Path ?? "" })) {
    if (!existsSync(path)) continue;
    const version = versionOf(path);
    if (version && isAtLeast(version, MINIMUM_BUN)) return { path, version };
    rejected.push(`  ${path}: ${version ? `is ${version}` : "does not run here"}`);
  }
  const seen = rejected.length > 0 ? `\nFound, but not usable:\n${rejected.join("\n")}` : "";
  return {
    problem: `asyncagents needs Bun ${MINIMUM_BUN} or newer, and found none.${seen}
Do one of these:
  npm install --include=optional    brings Bun as an optional dependency of asyncagents
  npm install -g bun                or install Bun for all projects (https://bun.com), so that it is on the PATH`,
  };
}

function versionOf(path) {
  const { status, stdout } = spawnSync(path, ["--version"], { encoding: "utf8", timeout: 20_000, windowsHide: true });
  const version = stdout?.trim();
  return status === 0 && /^\d+\.\d+\.\d+/.test(version) ? version : undefined;
}

// An installed package finds its dependencies in a node_modules folder above it.
function ancestors(folder) {
  const above = dirname(folder);
  return above === folder ? [folder] : [folder, ...ancestors(above)];
}
