/**
 * A package as somebody gets it: packed by npm, and installed from the tarball into an empty folder outside of the
 * repository. Measures what that costs. Nothing of this repository is reachable from there.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { run } from "../api/consumer.ts";
import { root } from "../ground/repository.ts";

export interface InstalledPackage {
  folder: string;
  /** How many packages npm installed, this one included. */
  count: number;
  /** What they take on the disk. */
  megabytes: number;
}

const folders: string[] = [];

/** For afterAll: removes what was installed. */
export function removeInstalled(): void {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
}

/** Packs the package in that folder of the repository and installs it, with these options and beside these packages. */
export async function installPacked(source: string, options: string[] = []): Promise<InstalledPackage> {
  const folder = mkdtempSync(join(tmpdir(), "asyncagents-packed-"));
  folders.push(folder);
  const packed = await npm(["pack", "--ignore-scripts", "--json", "--pack-destination", folder], join(root, source));
  const [{ filename }] = JSON.parse(packed);
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "stranger", type: "module", private: true }));
  await npm(["install", `./${filename}`, "--prefer-offline", "--no-audit", "--no-fund", ...options], folder);
  const modules = join(folder, "node_modules");
  const { packages } = JSON.parse(readFileSync(join(modules, ".package-lock.json"), "utf8"));
  return { folder, count: Object.keys(packages).length, megabytes: bytesIn(modules) / 1e6 };
}

async function npm(words: string[], cwd: string): Promise<string> {
  const [out, errors, code] = await run(["npm", ...words], cwd);
  if (code !== 0) throw new Error(`npm ${words.join(" ")} ended with ${code}:\n${out}${errors}`);
  if (errors.includes("EBADENGINE")) throw new Error(`npm warns about the version of Node:\n${errors}`);
  return out;
}

function bytesIn(folder: string): number {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}
