import { expect, test } from "bun:test";
import { join } from "node:path";
import { loadedBy } from "../../ground/loaded-by.ts";
import { root } from "../../ground/repository.ts";

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
