/** What a file loads before its first line runs, by path or package. Not what it imports later, or only as types. */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";

export function loadedBy(entry: string): Set<string> {
  const found = new Set([entry]);
  // What is added meanwhile is visited as well.
  for (const path of found) {
    if (!/\.tsx?$/.test(path)) continue;
    const loader = path.endsWith("x") ? "tsx" : "ts";
    for (const { kind, path: name } of new Bun.Transpiler({ loader }).scanImports(readFileSync(path))) {
      if (kind === "import-statement") found.add(name.startsWith(".") ? join(dirname(path), name) : name);
    }
  }
  return found;
}
