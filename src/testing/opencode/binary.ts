/**
 * Finds the real OpenCode program: the native binary of the platform package that npm installed beside `opencode-ai`.
 * Invariant: works if no install script ever ran, since it never uses the launcher that `postinstall` creates.
 * Downloads nothing.
 */
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

export function openCodeBinary(): string {
  const from = createRequire(createRequire(import.meta.url).resolve("opencode-ai/package.json"));
  const program = process.platform === "win32" ? "opencode.exe" : "opencode";
  const names = packageNames();
  for (const name of names) {
    const path = binaryIn(from, name, program);
    if (path !== undefined) return path;
  }
  throw new Error(`OpenCode's program is not installed: none of ${names.join(", ")} was found. Run npm install.`);
}

/** The packages that can run here, best first. */
function packageNames(): string[] {
  const system = process.platform === "win32" ? "windows" : process.platform;
  const base = `opencode-${system}-${process.arch}`;
  const variants = hasAvx2() ? [base, `${base}-baseline`] : [`${base}-baseline`, base];
  return existsSync("/etc/alpine-release") ? variants.map((name) => `${name}-musl`) : variants;
}

function hasAvx2(): boolean {
  if (process.arch !== "x64" || process.platform !== "linux") return true;
  return /\bavx2\b/.test(readFileSync("/proc/cpuinfo", "utf8"));
}

function binaryIn(from: NodeJS.Require, name: string, program: string): string | undefined {
  try {
    const path = join(dirname(from.resolve(`${name}/package.json`)), "bin", program);
    return existsSync(path) ? path : undefined;
  } catch {
    return undefined;
  }
}
