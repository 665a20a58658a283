/**
 * The type declarations of all entries: one run of tsc over src, of which only the files stay that an entry refers
 * to. What the others hold is private. Knows nothing of packages.
 */
import { existsSync, readFileSync } from "node:fs";
import { rm, utimes } from "node:fs/promises";
import { dirname, join, posix } from "node:path";
import { Glob } from "bun";
import { entries } from "./entries.ts";
import { writePlainTypes } from "./plain-types.ts";
import { run } from "./run.ts";

const root = dirname(dirname(import.meta.dir));
export const dist = join(root, "dist");

/** The file that says when the declarations were made. */
export const DECLARATIONS = "dist/index.d.ts";

export async function makeDeclarations(): Promise<void> {
  for (const file of await declarationFiles()) await rm(join(dist, file));
  // Errors of types are found by `npm run check`, which reads more files than these.
  const options = ["-p", "src/tsconfig.declarations.json", "--noCheck"];
  await run([process.execPath, "node_modules/typescript/bin/tsc", ...options]);
  await writePlainTypes(root, dist);
  const used = new Set(entries.flatMap(({ path }) => [...referredFrom(path)]));
  for (const file of await declarationFiles()) if (!used.has(file)) await rm(join(dist, file));
  const now = new Date();
  await utimes(join(root, DECLARATIONS), now, now);
}

/** The declaration files that an entry is made of, itself included, as paths below dist. */
export function referredFrom(entry: string): Set<string> {
  const found = new Set<string>();
  const open = [`${entry}.d.ts`];
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    if (found.has(file)) continue;
    found.add(file);
    open.push(...relativeImports(file, readFileSync(join(dist, file), "utf8")));
  }
  return found;
}

/** What a declaration file refers to by a relative path. */
function relativeImports(file: string, text: string): string[] {
  const specifiers = Array.from(
    text.matchAll(/(?:\bfrom|\bimport\()\s*"(\.[^"]+)"/g),
    ([, specifier = ""]) => specifier,
  );
  return specifiers.map((specifier) => posix.join(posix.dirname(file), specifier).replace(/\.(js|ts)$/, ".d.ts"));
}

/** The packages from outside that these declaration files refer to. */
export function packagesIn(files: Iterable<string>): Set<string> {
  const found = new Set<string>();
  for (const file of files) {
    const text = readFileSync(join(dist, file), "utf8");
    for (const [, specifier = ""] of text.matchAll(/(?:\bfrom|\bimport\()\s*"([^."][^"]*)"/g)) found.add(specifier);
  }
  return found;
}

async function declarationFiles(): Promise<string[]> {
  return existsSync(dist) ? Array.fromAsync(new Glob("**/*.d.ts").scan({ cwd: dist })) : [];
}
