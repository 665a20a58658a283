import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { root } from "../../ground/repository.ts";

/** What a file loads before its first line runs, by path or package. Not what it imports later, or only as types. */
function loadedBy(entry: string): Set<string> {
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

const isTelemetry = (path: string) => path.startsWith("@opentelemetry/") || path.includes("/open-telemetry.ts");

test.each(["opencode/server.ts", "opencode/storage.ts", "daemon/daemon.ts", "daemon/runner-process.ts", "index.ts"])(
  "src/%s loads no OpenTelemetry: only the setting does",
  (entry) => {
    const loaded = loadedBy(join(root, "src", entry));
    expect(loaded.size).toBeGreaterThan(5);
    expect([...loaded].filter(isTelemetry)).toEqual([]);
  },
);

test("the check above finds what is loaded", () => {
  const loaded = loadedBy(join(root, "src/engine/telemetry/open-telemetry.ts"));
  expect([...loaded].filter(isTelemetry)).toContain("@opentelemetry/api");
});
