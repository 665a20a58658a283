import { beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { type Surface, surfaceOf } from "../../scripts/api/surface.ts";
import { readSurfaces, reportFile, reportText } from "../../scripts/api-report.ts";
import { type Entry, entries } from "../../scripts/build/entries.ts";
import { build } from "../../scripts/build.ts";
import { read, root } from "../ground/repository.ts";
import { parse } from "../ground/syntax.ts";

setDefaultTimeout(60_000);

let surfaces: Map<Entry, Surface>;
beforeAll(async () => {
  await build();
  surfaces = await readSurfaces();
});

// The client's methods are derived from the table of operations: how, nobody has to name.
const named = entries.filter(({ name }) => name !== "asyncagents/client");

describe("the public surface", () => {
  test.each(entries)("of $name is as its report says; after a change on purpose run `npm run api`", (entry) => {
    const surface = surfaces.get(entry);
    const found = (surface ? reportText(entry, surface) : "").split("\n");
    const recorded = read(reportFile(entry)).split("\n");
    const [had, has] = [new Set(recorded), new Set(found)];
    const changed = [
      ...recorded.filter((line) => !has.has(line)).map((line) => `- ${line}`),
      ...found.filter((line) => !had.has(line)).map((line) => `+ ${line}`),
    ];
    expect(changed.slice(0, 40)).toEqual([]);
    expect(found.join("\n") === recorded.join("\n")).toBe(true);
  });

  test.each(named)("of $name exports every type that it refers to", (entry) => {
    const hidden = surfaces.get(entry)?.hidden.filter(({ isValue }) => !isValue);
    expect(hidden?.map(({ name }) => name)).toEqual([]);
  });

  test("has a report for each entry, and none for another", () => {
    expect(readdirSync(join(root, "docs/api")).toSorted()).toEqual(
      entries.map((entry) => reportFile(entry).slice("docs/api/".length)).toSorted(),
    );
  });
});

describe("reading declarations", () => {
  const surface = async (files: Record<string, string>) =>
    surfaceOf("index.d.ts", await parse(new Map(Object.entries(files))));

  test("follows names through files, renames and namespaces", async () => {
    const { exported } = await surface({
      "index.d.ts": `export { one as first } from "./a.ts"; export * from "./b.ts"; export * as more from "./a.ts";`,
      "a.d.ts": "export declare const one: number;",
      "b.d.ts": `/** About it. */\nexport interface Two {\n    /** Inside. */\n    value: number;\n}`,
    });
    expect(exported.map(({ name }) => name)).toEqual(["Two", "first", "more.one"]);
    expect(exported[0]?.text).toBe("export interface Two {\n    value: number;\n}");
  });

  test.each([
    ["a parameter", `import type { Hidden } from "./a.ts"; export declare function f(given: Hidden): void;`],
    ["a result", `import type { Hidden } from "./a.ts"; export declare const f: () => Promise<Hidden[]>;`],
    ["a base", `import type { Hidden } from "./a.ts"; export interface Shown extends Hidden {}`],
    ["an import in place", `export declare const f: () => import("./a.ts").Hidden;`],
    ["a type of its own file", `interface Hidden { value: number } export declare function f(): Hidden; export {};`],
  ])("finds a type that is not exported: %s", async (_how, index) => {
    const { hidden } = await surface({ "index.d.ts": index, "a.d.ts": "export interface Hidden { value: number }" });
    expect(hidden.map(({ name, isValue }) => [name, isValue])).toEqual([["Hidden", false]]);
  });

  test("tells a constant whose type is used from a type", async () => {
    const { hidden } = await surface({
      "index.d.ts": `declare const table: { a: 1 }; export type Name = keyof typeof table; export {};`,
    });
    expect(hidden.map(({ name, isValue }) => [name, isValue])).toEqual([["table", true]]);
  });
});
