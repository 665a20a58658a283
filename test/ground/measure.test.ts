import { afterAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { exportedNames, importedNames, sharedNames, unimportedNames } from "../../scripts/measure/exported-names.ts";
import { lengths, measureHouse } from "../../scripts/measure/house.ts";
import { packedSpreads, wideComments } from "../../scripts/measure/line-tricks.ts";
import { repeatedBlocks } from "../../scripts/measure/repeated-blocks.ts";
import { report } from "../../scripts/measure/report.ts";
import { root } from "./repository.ts";
import { folderSizes } from "./size.ts";
import { parse, parseText } from "./syntax.ts";

const parseAll = (files: Record<string, string>) => parse(new Map(Object.entries(files)));

describe("exported names", () => {
  test("are those that a file declares, types and values", async () => {
    const tree = await parseText(`import { taken, type Taken } from "./other.ts";
      export { again } from "./other.ts"; export * from "./other.ts"; export { taken, type Taken };
      export const one = 1, { two, deep: [three] } = value; export async function four() { const inner = 1; return inner; }
      export interface Five {} export type Six = 6; export class Seven {} export enum Eight {}
      const local = 1; interface Local {} export { local as nine, type Local };
      const hidden = 1; function alsoHidden() {} export default function byDefault() {}`);
    const names = exportedNames(tree);
    const wanted = ["one", "two", "three", "four", "Five", "Six", "Seven", "Eight", "nine", "Local"];
    expect([...names.keys()].toSorted()).toEqual(wanted.toSorted());
    const types = [...names].filter(([, { isType }]) => isType).map(([name]) => name);
    expect(types.toSorted()).toEqual(["Eight", "Five", "Local", "Seven", "Six"]);
  });

  test("that several files declare are found, and those that are passed on are not", async () => {
    const trees = await parseAll({
      "src/a.ts": "export interface Place {} export const once = 1; export const shape = 1; export type shape = 1;",
      "src/b.ts": 'export type Place = 1; export const value = 1; export { once } from "./a.ts";',
      "src/c.ts": "export const Place = 1; export function value() {}",
    });
    expect(sharedNames(trees)).toEqual([
      { name: "Place", isType: true, files: ["src/a.ts", "src/b.ts", "src/c.ts"] },
      { name: "value", isType: false, files: ["src/b.ts", "src/c.ts"] },
    ]);
  });

  test("are imported by name, under another name, as a whole, as a type, dynamically, or by a re-export", async () => {
    const tree =
      await parseText(`import standard, { a, b as c, type D } from "./named.ts"; import * as all from "./all.ts";
      import "./effects.ts"; export { e as f } from "./passed.ts"; export * from "./open.ts"; export { a };
      const late = await import("./late.ts"); type T = import("./type.ts").T; require(computed); call("./not-a-module.ts");`);
    expect(importedNames(tree).map(({ module, name }) => `${module} ${name}`)).toEqual([
      "./named.ts default",
      "./named.ts a",
      "./named.ts b",
      "./named.ts D",
      "./all.ts *",
      "./passed.ts e",
      "./open.ts *",
      "./late.ts *",
      "./type.ts *",
    ]);
  });

  test("that nobody imports are found, except in the package entries", async () => {
    const trees = await parseAll({
      "src/index.ts": 'export { passedOn } from "./room/a.ts"; export const forOthers = 1;',
      "src/room/a.ts":
        "export const used = 1, unused = 2, passedOn = 3, forTests = 4; export const own = used; const x = own;",
      "src/room/b.ts": 'import { used } from "./a.ts"; import type { Shape } from "./c";',
      "src/room/c.tsx": "export interface Shape {}",
      "src/room/d.ts": "export const any = 1;",
      "test/a.test.ts":
        'import { forTests } from "../src/room/a.js"; await import("../src/room/d"); export const u = 1;',
    });
    const isOwner = (file: string) => file.startsWith("src/");
    const options = { isOwner, entries: ["src/index.ts"] };
    const names = (isUser: (file: string) => boolean) =>
      unimportedNames(trees, { ...options, isUser }).map(({ file, name }) => `${file} ${name}`);
    expect(names(() => true)).toEqual(["src/room/a.ts unused", "src/room/a.ts own"]);
    expect(names(isOwner)).toEqual([
      "src/room/a.ts unused",
      "src/room/a.ts forTests",
      "src/room/a.ts own",
      "src/room/d.ts any",
    ]);
  });
});

describe("repeated code", () => {
  const lines = (count: number, from = 0) => Array.from({ length: count }, (_, i) => `call(${from + i});\n`).join("");
  const found = async (files: Record<string, string>) =>
    repeatedBlocks(await parseAll(files)).map(
      ({ first, second, lines }) => `${first.file}:${first.line} ${second.file}:${second.line} ${lines}`,
    );

  test("is six equal lines or more, counted once at its full length", async () => {
    expect(await found({ "a.ts": lines(5), "b.ts": lines(5) })).toEqual([]);
    expect(await found({ "a.ts": `before();\n${lines(6)}`, "b.ts": lines(6) })).toEqual(["a.ts:2 b.ts:1 6"]);
    expect(await found({ "a.ts": `${lines(9)}after();`, "b.ts": lines(9) })).toEqual(["a.ts:1 b.ts:1 9"]);
  });

  test("is found in one file too, and once for each pair of places", async () => {
    expect(await found({ "a.ts": `${lines(6)}between();\n${lines(6)}` })).toEqual(["a.ts:1 a.ts:8 6"]);
    expect(await found({ "a.ts": lines(6), "b.ts": lines(6), "c.ts": lines(6) })).toHaveLength(3);
    // Six equal lines are no repetition of each other, and twelve are one.
    expect(await found({ "a.ts": "again();\n".repeat(7) })).toEqual([]);
    expect(await found({ "a.ts": "again();\n".repeat(12) })).toEqual(["a.ts:1 a.ts:7 6"]);
  });

  test("does not depend on indentation, comments and blank lines, and imports do not count", async () => {
    const indented = `// why\n${lines(3)}\n  // because\n${lines(3, 3).replaceAll("call", "    call")}`;
    expect(await found({ "a.ts": indented, "b.ts": lines(6) })).toEqual(["a.ts:2 b.ts:1 6"]);
    const imports = `import {\n  a,\n  b,\n  c,\n  d,\n} from "./x.ts";\n`;
    const passedOn = Array.from({ length: 6 }, (_, i) => `export { e${i} } from "./x.ts";\n`).join("");
    for (const text of [imports, passedOn]) expect(await found({ "a.ts": text, "b.ts": text })).toEqual([]);
  });
});

describe("layout that the formatter did not choose", () => {
  test("a comment is too wide beyond 120 columns, wherever it stands", async () => {
    const comment = (columns: number) => `// ${"x".repeat(columns - 3)}`;
    const text = [
      comment(120),
      comment(121),
      `const a = 1; ${comment(120)}`,
      `const b = "// ${"x".repeat(120)}";`,
      `/** ${"x".repeat(110)}`,
      ` * ${"x".repeat(118)} */`,
    ].join("\n");
    expect(wideComments(await parseText(text))).toEqual([2, 3, 6]);
  });

  test("a spread literal packs lines, and a spread of anything else does not", async () => {
    const text = `const a = { x, ...{ y, z } };
      const b = ["x", ...["y", "z"], ...(["u"] as const)];
      const c = { ...(given && { y }), ...other, nested: { ...({ y }) } };
      const d = [...others, ...(given ? ["y"] : []), ["z"]];
      call(...["y", "z"]);`;
    expect(packedSpreads(await parseText(text))).toEqual([1, 2, 2, 3]);
  });
});

describe("the figures", () => {
  test("median, p90 and maximum are sizes that occur", () => {
    const sizes = [9, 1, 2, 3, 4, 5, 6, 7, 8, 100];
    const measured = sizes.map((size) => ({ place: `f${size}`, size }));
    expect(lengths(measured)).toEqual({ count: 10, median: 5, p90: 9, max: 100, longest: "f100" });
    expect(lengths([])).toEqual({ count: 0, median: 0, p90: 0, max: 0, longest: "" });
  });

  test("a folder has the files that lie directly in it", () => {
    expect(folderSizes(["src/a.ts", "src/room/b.ts", "src/room/c.json", "src/room/deep/d.ts"])).toEqual([
      { folder: "src/room", files: 2 },
      { folder: "src", files: 1 },
      { folder: "src/room/deep", files: 1 },
    ]);
  });
});

describe("a tree", () => {
  const tree = mkdtempSync(join(tmpdir(), "asyncagents-measure-"));
  afterAll(() => rmSync(tree, { recursive: true }));

  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(tree, path)), { recursive: true });
    writeFileSync(join(tree, path), text);
  };

  test("of another layout is measured, area by area", async () => {
    const block = "call();\nof();\nsix();\nequal();\nlines();\nhere();\n";
    write(".gitignore", "node_modules\n");
    write("package.json", '{ "exports": { "./client": { "types": "./dist/room/client.d.ts" } } }');
    write("src/room/client.ts", `export const forOthers = 1;\n${block}`);
    write("src/room/other.ts", `// ${"x".repeat(120)}\nexport const unused = { ...{ forOthers } };\n${block}`);
    write("bench/main.ts", `${block}function f() {\n  return 1;\n}\nimport { measured } from "../src/room/third.ts";`);
    write("src/room/third.ts", "export const measured = 1; export interface Shape {}");
    write("src/room/fourth.ts", 'import type { Shape } from "./third.ts"; export class unused {}');
    write("node_modules/x/index.ts", block);
    for (let i = 0; i < 21; i++) write(`test/full/${i}.json`, "{}");

    const house = await measureHouse(tree);
    expect(house.areas.map(({ area }) => area)).toEqual(["src", "test", "bench"]);
    const [src, tests, bench] = house.areas;
    expect(src).toMatchObject({
      folders: [{ folder: "src/room", files: 4 }],
      fileLines: { count: 4, median: 1, max: 7 },
      repeatedBlocks: [{ lines: 6 }],
      wideComments: ["src/room/other.ts:1"],
      packedSpreads: ["src/room/other.ts:2"],
    });
    expect(tests?.folders).toEqual([{ folder: "test/full", files: 21 }]);
    expect(bench?.functionLines).toEqual({ count: 1, median: 3, p90: 3, max: 3, longest: "bench/main.ts:7" });
    expect(house.repeatedBetweenAreas).toHaveLength(2);
    expect(house.exports).toEqual({
      names: 5,
      shared: [{ name: "unused", isType: true, files: ["src/room/fourth.ts", "src/room/other.ts"] }],
      unimported: [
        { file: "src/room/fourth.ts", name: "unused" },
        { file: "src/room/other.ts", name: "unused" },
      ],
      onlyOutside: [{ file: "src/room/third.ts", name: "measured" }],
    });

    const text = report(house, { verbose: true });
    expect(text).toMatch(/^folders over 20 files +0 +1 +0$/m);
    expect(text).toContain("21 in test/full");
    expect(text).toContain("type unused: src/room/fourth.ts, src/room/other.ts");
    expect(text).toContain("unused in src/room/other.ts");
    expect(text).toContain("6 lines: src/room/client.ts:2 and src/room/other.ts:3");
    const better = { ...house, areas: house.areas.map((area) => ({ ...area, wideComments: [] })) };
    expect(report(better, { verbose: false, before: house })).toMatch(/^comment lines over 120 columns +1 → 0 +0 +0$/m);
  });

  test("that is none is refused", () => {
    for (const [args, reason] of [
      [["--tree", join(tree, "nowhere")], "is not a checkout of this project"],
      [["--fast"], "--fast"],
    ] as const) {
      const { exitCode, stderr } = Bun.spawnSync([process.execPath, join(root, "scripts/measure.ts"), ...args]);
      expect([exitCode, stderr.toString()]).toEqual([1, expect.stringContaining(reason)]);
    }
  });
});
