import { describe, expect, test } from "bun:test";
import { COMMENT_COLUMNS, wideComments } from "../../scripts/measure/line-tricks.ts";
import { repositoryFiles, sources } from "./repository.ts";
import {
  codeLines,
  FILE_LIMIT,
  FOLDER_LIMIT,
  FUNCTION_LIMIT,
  fullFolders,
  functionSizes,
  hasHeader,
  nameProblems,
} from "./size.ts";
import { parse, parseText } from "./syntax.ts";

const code = sources(/\.(tsx?|mjs)$/);
const typed = await parse(new Map([...code].filter(([path]) => !path.endsWith(".mjs"))));

describe("the limits of the house style", () => {
  test(`no file has more than ${FILE_LIMIT} lines of code`, () => {
    const sizes = [...typed].map(([path, tree]) => ({ path, lines: codeLines(tree).size }));
    expect(sizes.filter(({ lines }) => lines > FILE_LIMIT)).toEqual([]);
  });

  test(`no function outside tests has more than ${FUNCTION_LIMIT} lines of code`, () => {
    const sizes = [...typed]
      .filter(([path]) => !path.startsWith("test/"))
      .flatMap(([path, tree]) => functionSizes(tree).map(({ line, size }) => ({ at: `${path}:${line}`, size })));
    expect(sizes.filter(({ size }) => size > FUNCTION_LIMIT)).toEqual([]);
  });

  test(`no comment is wider than ${COMMENT_COLUMNS} columns`, () => {
    expect([...typed].flatMap(([path, tree]) => wideComments(tree).map((line) => `${path}:${line}`))).toEqual([]);
  });

  test("files have meaningful names", () => {
    expect([...code.keys()].flatMap(nameProblems)).toEqual([]);
  });

  test("every file in src and simulation has a header comment", () => {
    expect(
      [...code].filter(([path, text]) => /^(src|simulation)\//.test(path) && !hasHeader(text)).map(([path]) => path),
    ).toEqual([]);
  });

  test("no folder of src, test or simulation has too many files", () => {
    expect(fullFolders(repositoryFiles().filter((path) => /^(src|test|simulation)\/.*\.tsx?$/.test(path)))).toEqual([]);
  });
});

describe("the measures", () => {
  test("a line counts if it contains code", async () => {
    const tree = await parseText(`// header
/* a
   block */
const url = "http://x"; // trailing

const pattern = /\\/\\*"/; const text = \`// no comment
/* none either */ \${url /* here */} //
\`;
/** doc */ export {};
}`);
    expect([...codeLines(tree)]).toEqual([4, 6, 7, 8, 9, 10]);
  });

  test("a function is measured without the functions inside it", async () => {
    const body = (lines: number) => "  run();\n".repeat(lines);
    const tree = await parseText(
      `function outer() {\n${body(3)}  return {\n    inner() {\n${body(70)}    },\n  };\n}\n`,
    );
    expect(functionSizes(tree)).toEqual([
      { line: 1, size: 7 },
      { line: 6, size: 72 },
    ]);
  });

  test("names are checked", () => {
    for (const path of [
      "src/store/task-store.ts",
      "test/store/task-store.test.ts",
      "src/index.ts",
      "bin/find-bun.mjs",
    ]) {
      expect(nameProblems(path)).toEqual([]);
    }
    for (const path of [
      "src/engine/run-manager.ts",
      "src/engine/taskStore.ts",
      "src/http/server-v2.ts",
      "src/http/index.ts",
    ]) {
      expect(nameProblems(path)).toHaveLength(1);
    }
  });

  test("folders are counted by the files directly in them", () => {
    const full = Array.from({ length: FOLDER_LIMIT + 1 }, (_, index) => `src/store/f${index}.ts`);
    expect(fullFolders([...full, "src/store/sqlite/a.ts", "src/model/a.ts"])).toEqual([
      `src/store: ${full.length} files`,
    ]);
    expect(fullFolders(full.slice(1))).toEqual([]);
  });

  test("a header is a comment at the top", () => {
    expect(hasHeader("/** owns tasks */\nexport {}")).toBe(true);
    expect(hasHeader("#!/usr/bin/env bun\n// owns tasks\n")).toBe(true);
    expect(hasHeader("import x from 'x'; // late")).toBe(false);
  });
});
