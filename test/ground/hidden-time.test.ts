import { describe, expect, test } from "bun:test";
import { exceptions, hiddenTime, needsContext } from "./hidden-time.ts";
import { sources } from "./repository.ts";
import { parse, parseText } from "./syntax.ts";

const src = await parse(sources(/^(src|simulation)\/.*\.tsx?$/));

function isExcepted(path: string, name: string): boolean {
  return exceptions.some((exception) => exception.path === path && exception.names.includes(name));
}

describe("time, ids and randomness", () => {
  test("come from the context, in the model, the engine, the board and the queries of the store", () => {
    const inRooms = [...src].filter(([path]) => needsContext(path));
    expect(inRooms.length).toBeGreaterThan(100);
    const found = inRooms.flatMap(([path, tree]) =>
      hiddenTime(tree).flatMap(({ line, name }) => (isExcepted(path, name) ? [] : [`${path}:${line}: ${name}`])),
    );
    expect(found).toEqual([]);
  });

  test("have no unused exception", () => {
    const unused = exceptions.flatMap(({ path, names }) => {
      const tree = src.get(path);
      const used = tree && needsContext(path) ? hiddenTime(tree).map(({ name }) => name) : [];
      return names.filter((name) => !used.includes(name)).map((name) => `${path}: ${name}`);
    });
    expect(unused).toEqual([]);
  });

  test("may be the machine's own below the drivers of the databases", () => {
    expect(needsContext("src/store/tasks/writes.ts")).toBe(true);
    expect(needsContext("src/process/serial-queue.ts")).toBe(true);
    expect(needsContext("src/store/sqlite/sqlite-database.ts")).toBe(false);
    expect(needsContext("src/http/server.ts")).toBe(false);
    expect(needsContext("simulation/world/machine.ts")).toBe(true);
    expect(needsContext("simulation/main.ts")).toBe(false);
  });
});

describe("the detector of hidden time", () => {
  test.each([
    "setTimeout(work, 1)",
    "clearTimeout(timer)",
    "let timer: ReturnType<typeof setInterval>",
    "const later = setImmediate",
    "const now = Date.now",
    "new Date()",
    "Date()",
    "performance.now()",
    "Math.random()",
    "crypto.randomUUID()",
    "await Bun.sleep(1)",
    "globalThis.setTimeout(work, 1)",
    "AbortSignal.timeout(1)",
    "process.hrtime()",
    'import { setTimeout as pause } from "node:timers/promises"',
    'import { realpath } from "node:fs/promises"',
    'import { randomUUID } from "node:crypto"',
    'import { systemClock as clock } from "../process/clock.ts"',
    'import { makeId } from "../process/make-id.ts"',
    "await pause(5)",
    "await settlesWithin(work, { timeout: 5 })",
    "await within(work, limits, late)",
  ])("finds %s", async (text) => {
    expect(hiddenTime(await parseText(text))).toHaveLength(1);
  });

  test.each([
    "context.after(5, work)",
    "context.now()",
    "new Date(at).toISOString()",
    "Date.parse(text)",
    "Math.max(1, 2)",
    "AbortSignal.any([signal])",
    "interface Timers { setTimeout(): void; performance: number }",
    "const timers = { performance: 1, setTimeout() {} }",
    "timers.setTimeout(work)",
    'import { createHash } from "node:crypto"',
    'import { statSync } from "node:fs"',
    'import type { Clock } from "../process/clock.ts"',
    "await pause(5, { clock: this.#context })",
    "await settlesWithin(work, { timeout: 5, clock })",
    "this.#pause(parent, 5)",
    "queueMicrotask(work)",
  ])("accepts %s", async (text) => {
    expect(hiddenTime(await parseText(text))).toEqual([]);
  });
});
