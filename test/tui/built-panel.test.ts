/** The built file loads in OpenCode only if it has a certain form; a link in development would hide that. */
import { expect, test } from "bun:test";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { bundlePanel } from "../../scripts/build/panel.ts";
import { createTemporaryRoot } from "../../src/testing/opencode/home.ts";
import { read, root } from "../ground/repository.ts";

test("the panel is one small file that brings neither Solid nor OpenTUI, and whose imports OpenCode can find", async () => {
  const folder = await createTemporaryRoot();
  try {
    await bundlePanel(join(root, "src", "tui", "panel.tsx"), folder);
    const text = readFileSync(join(folder, "panel.js"), "utf8");
    const imports = Array.from(text.matchAll(/^import .*$/gm), ([line]) => line);
    // OpenCode looks for `from`, a blank and the name in quotes.
    for (const line of imports) expect(line).toMatch(/ from "[^"]+";$/);
    const names = new Set(imports.map((line) => /"([^"]+)";$/.exec(line)?.[1] ?? line));
    const external = [...names].filter((name) => !["fs", "fs/promises", "os", "path"].includes(name));
    expect(external.toSorted()).toEqual(["@opentui/core", "@opentui/solid", "solid-js"]);
    expect(text.length).toBeLessThan(120_000);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test("the package names both parts for `opencode plug`, and needs nothing installed for the panel", () => {
  const { exports, dependencies, peerDependencies, optionalDependencies, files } = JSON.parse(read("package.json"));
  expect([exports["./server"], exports["./tui"]]).toEqual(["./src/opencode/server.ts", "./dist/tui/panel.js"]);
  expect(files).toContain("dist");
  const installed = Object.keys({ ...dependencies, ...peerDependencies, ...optionalDependencies });
  expect(installed.filter((name) => /solid-js|@opentui/.test(name))).toEqual([]);
});
