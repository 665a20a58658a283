import { expect, test } from "bun:test";
import { join } from "node:path";
import { loadedBy } from "./loaded-by.ts";
import { root } from "./repository.ts";

test("a command loads neither the engine nor hosts before it begins: each module makes every command start later", () => {
  const loaded = [...loadedBy(join(root, "src/cli/main.ts"))];
  const packages = loaded.filter((name) => !name.startsWith("/") && !/^(node|bun):/.test(name));
  expect(packages).toEqual(["zod"]);
  expect(loaded.length).toBeGreaterThan(100);
  expect(loaded.length).toBeLessThan(220);
});
