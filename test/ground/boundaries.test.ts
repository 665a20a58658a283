import { describe, expect, test } from "bun:test";
import { posix } from "node:path";
import { arrows, boundaryViolations, folders, globalViolations, importsOf, rootFiles } from "./boundaries.ts";
import { sources } from "./repository.ts";
import { parse, parseText } from "./syntax.ts";

const src = await parse(sources(/^src\/.*\.tsx?$/));

async function violations(path: string, text: string): Promise<string[]> {
  return boundaryViolations(path, importsOf(await parseText(text)));
}

describe("the folders of src", () => {
  test("import each other only along the arrows", () => {
    expect(src.size).toBeGreaterThan(0);
    expect([...src].flatMap(([path, tree]) => boundaryViolations(path, importsOf(tree)))).toEqual([]);
  });

  test("stay pure and portable where the design says so", () => {
    expect([...src].flatMap(([path, tree]) => globalViolations(path, tree))).toEqual([]);
  });
});

describe("the simulation", () => {
  test("plays with shipped code and its own, and time knows nothing of the rest", async () => {
    const simulation = await parse(sources(/^simulation\/.*\.ts$/));
    expect(simulation.size).toBeGreaterThan(0);
    const foreign = [...simulation].flatMap(([path, tree]) =>
      importsOf(tree)
        .filter(({ specifier }) => specifier?.startsWith("."))
        .map(({ specifier = "" }) => posix.join(posix.dirname(path), specifier))
        .filter((target) => !/^(src|simulation)\//.test(target) || isForbidden(path, target))
        .map((target) => `${path} imports ${target}`),
    );
    expect(foreign).toEqual([]);
  });
});

/** Conformance suites are not shipped to be played with, and virtual time has no use for anything else. */
function isForbidden(path: string, target: string): boolean {
  return target.startsWith("src/testing/") || (/^simulation\/time\//.test(path) && !/^simulation\/time\//.test(target));
}

describe("the table of arrows", () => {
  test("names known folders and gives reasons", () => {
    for (const { from, to, reason } of arrows) {
      expect([...folders, ...rootFiles]).toContain(from.split("/")[0] ?? "");
      expect(to.filter((target) => !folders.includes(target) && !rootFiles.includes(target))).toEqual([]);
      expect(reason).not.toBe("");
    }
  });

  test("has no cycle, and only testing points to testing", () => {
    const targets = (folder: string) =>
      arrows.filter(({ from }) => from.split("/")[0] === folder).flatMap(({ to }) => to);
    const reaches = (from: string, goal: string): boolean =>
      targets(from).some((next) => next === goal || (next !== from && reaches(next, goal)));
    const real = folders.filter((folder) => folder !== "testing");
    expect(real.filter((folder) => reaches(folder, folder) || reaches(folder, "testing"))).toEqual([]);
  });
});

describe("the import detector", () => {
  test("sees every form of import", async () => {
    const tree = await parseText(`
      import a from "one";
      import type { B } from "two";
      import "three";
      export { c } from "four";
      export * from "five";
      export type { D } from "six";
      const e = await import("seven");
      type F = import("eight").F;
      const g = require("nine");
      const text = 'import h from "ten"'; // import i from "eleven"
      const j = await import(\`\${text}\`);
    `);
    const found = importsOf(tree).map(({ specifier }) => specifier ?? "computed");
    expect(found).toEqual(["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "computed"]);
  });

  test.each([
    ["src/store/store.ts", 'import type { Task } from "../model/task.ts"'],
    ["src/store/store.ts", 'import { Database } from "bun:sqlite"'],
    ["src/hosts/claude/claude-host.ts", 'import { run } from "../../claude/index.ts"'],
    ["src/opencode/storage.ts", 'import { sqliteStore } from "../store/sqlite.ts"'],
    ["src/cli/main.ts", 'import pkg from "../../package.json"'],
    ["src/testing/suite.ts", 'import { engine } from "../engine/engine.ts"'],
    ["src/claude/tasks/task.ts", 'import { join } from "node:path"'],
  ])("allows %s: %s", async (path, text) => {
    expect(await violations(path, text)).toEqual([]);
  });

  test.each([
    ["src/model/task.ts", 'import type { Store } from "../store/store.ts"'],
    ["src/model/task.ts", 'import { join } from "node:path"'],
    ["src/store/store.ts", 'export * from "../engine/engine.ts"'],
    ["src/hosts/opencode/opencode-host.ts", 'import { run } from "../../claude/index.ts"'],
    ["src/engine/engine.ts", 'const board = await import("../board/board.ts")'],
    ["src/engine/engine.ts", 'type Suite = import("../testing/index.ts").Suite'],
    ["src/opencode/tools.ts", 'import type { Store } from "../store/store.ts"'],
    ["src/claude/tasks/task.ts", 'import { Kysely } from "kysely"'],
    ["src/client/client.ts", 'import { Database } from "bun:sqlite"'],
    ["src/client/client.ts", 'import { readFile } from "fs/promises"'],
    ["src/http/server.ts", 'import { sample } from "../../test/sample.ts"'],
    ["src/http/server.ts", 'import { engine } from "asyncagents"'],
    ["src/http/server.ts", "await import(name)"],
    ["src/shared/anything.ts", ""],
    ["src/anything.ts", ""],
  ])("refuses %s: %s", async (path, text) => {
    expect(await violations(path, text)).toHaveLength(1);
  });
});

describe("the detector of globals", () => {
  test("sees clocks, randomness and Bun, and ignores mere namesakes", async () => {
    const found = async (path: string, text: string) => globalViolations(path, await parseText(text));
    const impure = "Date.now(); new Date(); Math.random(); crypto.randomUUID(); process.env; Bun.sleep(1);";
    expect(await found("src/model/task.ts", impure)).toHaveLength(6);
    expect(await found("src/claude/tasks/task.ts", impure)).toHaveLength(1);
    expect(await found("src/store/store.ts", impure)).toEqual([]);
    const pure = "new Date(1); Math.max(1, 2); task.process; const performance = 1; Date.parse(text);";
    expect(await found("src/model/task.ts", pure)).toEqual([]);
  });
});
