/**
 * The files of this repository, as the ground tests see them: everything that .gitignore does not exclude. Works in a
 * plain copy as well as in a clone, so it does not use git.
 */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Glob } from "bun";

export const root = dirname(dirname(import.meta.dir));

/** Paths from the root, with forward slashes, sorted. `tree` is another checkout of this project. */
export function repositoryFiles(tree = root): string[] {
  const lines = read(".gitignore", tree).split("\n");
  const names = lines
    .map((line) => line.trim().replace(/^\/|\/$/g, ""))
    .filter((line) => line && !line.startsWith("#"));
  const ignored = [".git", ...names].map((name) => new Glob(name));
  const below = (folder: string): string[] =>
    readdirSync(join(tree, folder), { withFileTypes: true }).flatMap((entry) => {
      const path = folder ? `${folder}/${entry.name}` : entry.name;
      if (ignored.some((glob) => glob.match(entry.name) || glob.match(path))) return [];
      if (entry.isDirectory()) return below(path);
      return entry.isFile() ? [path] : [];
    });
  return below("").sort();
}

export function read(path: string, tree = root): string {
  return readFileSync(join(tree, path), "utf8");
}

/** The text of each file whose path matches, by path. */
export function sources(shape: RegExp, tree = root): Map<string, string> {
  return new Map(
    repositoryFiles(tree)
      .filter((path) => shape.test(path))
      .map((path) => [path, read(path, tree)]),
  );
}
