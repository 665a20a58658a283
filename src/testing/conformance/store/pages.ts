/**
 * The part of the store suite about pages and totals: for any query and any texts, the pages together equal a filter
 * over all tasks. See `store-conformance.ts`, which combines the parts.
 */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { noProgress } from "../../../model/progress.ts";
import { isLive, STATUSES, TASK_SORTS, type Task } from "../../../model/task.ts";
import type { Store, TaskQuery } from "../../../store/store.ts";
import { create, resumed } from "../../sample-task.ts";
import { propertyTest, type StoreBed } from "./store-bed.ts";

/** A few distinct pieces, so that a term often occurs in a description; some are query syntax elsewhere. */
const piece = fc.constantFrom(
  "a",
  "B",
  "ab",
  "Fix ",
  "bug",
  "🌍",
  "é",
  "É",
  "ß",
  "İ",
  '"',
  "'",
  "%",
  "_",
  "\\",
  "*",
  "^",
  "(",
  ":",
  "-",
  "\0",
  "\ud83c",
  "\ufffd",
  "\ufffe",
  "\u0301",
  "\n",
  " or ",
  " NEAR",
  "description:",
  "日本語",
);
const text = (maxLength: number) => fc.array(piece, { maxLength }).map((pieces) => pieces.join(""));
const oneOf = (...names: string[]) => fc.constantFrom(...names);

const anyLife = fc.record({
  description: text(12),
  agent: oneOf("explore", "build", "plan"),
  batchId: oneOf("b1", "b2"),
  parentSessionId: oneOf("p1", "p2"),
  host: oneOf("opencode", "claude"),
  directory: oneOf("/repo", "/repo/api", "/repo-2", "/repo.old/x", "/Öl/repo", "/repo/Z"),
  cost: fc.nat({ max: 3 }),
  took: fc.integer({ min: 1, max: 4 }),
  at: fc.integer({ min: 0, max: 30 }),
  status: fc.constantFrom(...STATUSES),
  cleared: fc.boolean(),
});

const wide = {
  search: fc.oneof(
    text(3),
    fc.string({ unit: "binary", maxLength: 4 }),
    oneOf("bug", "fix ", "日本語", "descr", "a🌍b"),
  ),
  status: fc.subarray([...STATUSES]),
  agent: oneOf("explore", "build", "none"),
  cleared: fc.boolean(),
  host: oneOf("opencode", "none"),
  startedFrom: fc.integer({ min: 0, max: 30 }),
  startedBefore: fc.integer({ min: 0, max: 31 }),
  sort: fc.constantFrom(...TASK_SORTS),
  order: fc.constantFrom("newest" as const, "oldest" as const),
  textChars: fc.nat({ max: 5 }),
};
const narrow = { batchId: oneOf("b1", "b2"), parentSessionId: oneOf("p1", "p2"), idPrefix: oneOf("t1", "t") };
const folder = { directory: oneOf("/repo", "/repo/", "/", "/repo/Z", "/none") };
const anyQuery: fc.Arbitrary<TaskQuery> = fc.oneof(
  fc.record(wide, { requiredKeys: [] }),
  fc.record({ ...wide, ...narrow }, { requiredKeys: [] }),
  fc.record({ ...wide, ...folder }, { requiredKeys: ["directory"] }),
);

export function pageSuite(bed: StoreBed): void {
  propertyTest("for any query the pages together equal a filter, and the total is their number", 60, async () => {
    const store = await bed.fresh();
    const all: Task[] = [];
    const step = fc.record({
      lives: fc.array(anyLife, { minLength: 1, maxLength: 6 }),
      queries: fc.array(anyQuery, { minLength: 1, maxLength: 4 }),
      limit: fc.integer({ min: 1, max: 9 }),
    });
    return fc.asyncProperty(step, async ({ lives, queries, limit }) => {
      for (const life of lives) all.push(await live(store, `t${all.length}`, life));
      for (const query of queries) {
        const expected = filtered(all, query).map(({ id }) => id);
        expect(await paged(store, query, limit)).toEqual(expected);
        const first = await store.tasks({ ...query, limit: 200 });
        expect([first.total, first.tasks.map(({ id }) => id)]).toEqual([expected.length, expected.slice(0, 200)]);
        const selected = await store.selectTasks({ ...query, limit });
        const handles = filtered(all, query).map(({ id, description, status }) => ({ id, description, status }));
        expect(selected).toEqual({ total: expected.length, tasks: handles.slice(0, limit) });
      }
    });
  });

  test("a full page reports how many tasks match, for any filter", async () => {
    const store = await bed.fresh();
    await create(store, "a", { agent: "explore", batchId: "b1", parentSessionId: "p1" });
    await create(store, "b", { agent: "explore", batchId: "b1", parentSessionId: "p2" });
    await create(store, "c", { agent: "build", batchId: "b1", parentSessionId: "p2" });
    await create(store, "d", { agent: "build", batchId: "b2", parentSessionId: "p2" });
    const totals: [TaskQuery, number][] = [
      [{}, 4],
      [{ agent: "explore" }, 2],
      [{ batchId: "b1" }, 3],
      [{ parentSessionId: "p1" }, 1],
      [{ agent: "build", batchId: "b1" }, 1],
      [{ batchId: "b1", parentSessionId: "p2" }, 2],
    ];
    for (const [query, total] of totals) {
      expect([query, (await store.tasks({ ...query, limit: 1 })).total]).toEqual([query, total]);
    }
  });

  test("the end of a run is stored although its cost is no number", async () => {
    const store = await bed.fresh();
    for (const [id, cost] of [["none", Number.NaN] as const, ["endless", Number.POSITIVE_INFINITY] as const]) {
      await create(store, id);
      const progress = { ...noProgress(2_000), cost };
      const outcome = await store.apply(id, { type: "run.completed", at: 2_000, run: 0, result: "", progress });
      expect(outcome.changed).toBe(true);
    }
    expect((await store.tasks({ sort: "cost" })).total).toBe(2);
  });

  test("tasks in folders with paths as long as a system allows are stored, and listed by folder", async () => {
    const store = await bed.fresh();
    // Not to be compressed.
    const part = (count: number) => Array.from({ length: count }, () => `/${crypto.randomUUID()}`).join("");
    const above = part(50);
    const below = above + part(55);
    await create(store, "above", { directory: above });
    await create(store, "below", { directory: below });
    await create(store, "beside", { directory: `${above}-2` });
    const listed = async (directory: string) =>
      (await store.selectTasks({ directory, order: "oldest" })).tasks.map(({ id }) => id);
    expect(await listed(above)).toEqual(["above", "below"]);
    expect(await listed(below)).toEqual(["below"]);
    expect(await listed(above.slice(0, 37))).toEqual(["above", "below", "beside"]);
  });

  test("words are found in any order, in the description, the id and the newest error", async () => {
    const store = await bed.fresh();
    await create(store, "ses_17AbC", { description: "Translate the README" });
    await create(store, "ses_18def", { description: "Fix the build" });
    await store.apply("ses_18def", { type: "run.failed", at: 2, run: 0, error: "Rate LIMIT exceeded", progress: null });
    const first = ["readme translate", "17abc", "the 17ABC transl", "  README  "];
    const second = ["limit", "exceeded rate", "build limit", "18d li", "fi bu"];
    for (const search of first) expect([search, await paged(store, { search }, 1)]).toEqual([search, ["ses_17AbC"]]);
    for (const search of second) expect([search, await paged(store, { search }, 1)]).toEqual([search, ["ses_18def"]]);
    for (const search of ["readme build", "translate limit"]) expect(await paged(store, { search }, 1)).toEqual([]);
    for (const search of ["", "  "]) expect((await paged(store, { search }, 1)).length).toBe(2);
    const many = "t r a n s l e translate";
    expect(await paged(store, { search: many }, 1)).toEqual(["ses_17AbC"]);
  });

  test("an error of an earlier run is no longer found", async () => {
    const store = await bed.fresh();
    await create(store, "a", { description: "one" });
    await store.apply("a", { type: "run.failed", at: 2, run: 0, error: "weather", progress: null });
    expect(await paged(store, { search: "weather" }, 1)).toEqual(["a"]);
    await store.apply("a", { ...resumed(3), allow: ["error"] });
    expect(await paged(store, { search: "weather" }, 1)).toEqual([]);
    expect(await paged(store, { search: "one" }, 1)).toEqual(["a"]);
  });

  test("a part of a description is found, whatever its length and characters", async () => {
    const store = await bed.fresh();
    const description = `Fix "the" 100%_\\ bug's *^ AND (NEAR) {é} 日本語 🌍🌎🌏 ${"long ".repeat(400)}end`;
    await create(store, "a", { description });
    await create(store, "b", { description: "nothing of it: ſtop a\ufffdbc" });
    const found = [
      "x",
      '"',
      '"t',
      '"the"',
      "%_\\",
      " *^ ",
      "*",
      "and (near) {",
      "日本語",
      "🌍🌎",
      "🌍🌎🌏",
      "0%",
      "bug's",
      "FIX",
      "long ".repeat(50),
      "long ".repeat(400),
    ];
    const absent = ["xyz", '""', '"""', "🌏🌎", "endlong", "long".repeat(2), "the 101", "fix thex", "the*", "日語本"];
    // Texts that other full-text indexes treat as equal.
    absent.push("stop", "a\ufffebc", "a\uffffbc");
    for (const search of found) expect([search, await paged(store, { search }, 1)]).toEqual([search, ["a"]]);
    for (const search of ["ſtop", "a\ufffdbc", "a\0bc"]) expect(await paged(store, { search }, 1)).toEqual(["b"]);
    for (const search of absent) expect([search, await paged(store, { search }, 1)]).toEqual([search, []]);
  });

  test("a list shortens the three texts of the run, and nothing else", async () => {
    const store = await bed.fresh();
    const task = await create(store, "a", { prompt: "prömpt 🌍", description: "description" });
    await store.apply("a", { type: "run.failed", at: 2, run: 0, error: "érror 🌍", progress: null });
    const [cut] = (await store.tasks({ textChars: 3 })).tasks;
    expect(cut?.run).toMatchObject({ prompt: "prö", error: "érr", result: null, messageId: task.run.messageId });
    expect(cut?.description).toBe("description");
    await store.apply("a", { type: "task.cleared", at: 3 });
    expect((await store.tasks({ textChars: 8 })).tasks[0]?.run).toMatchObject({
      prompt: "prömpt 🌍",
      error: "érror 🌍",
    });
  });
}

type Life = typeof anyLife extends fc.Arbitrary<infer Value> ? Value : never;

async function live(store: Store, id: string, { at, status, cleared, cost, took, ...fields }: Life): Promise<Task> {
  await create(store, id, fields, at);
  const progress = { ...noProgress(at), cost };
  const end = { at: at + took, run: 0, progress };
  if (status === "running") await store.apply(id, { type: "run.progressed", at, run: 0, progress });
  if (status === "completed" || status === "resumed")
    await store.apply(id, { type: "run.completed", result: "done", ...end });
  if (status === "resumed") await store.apply(id, resumed(end.at + 1));
  if (status === "error") await store.apply(id, { type: "run.failed", error: "no", ...end });
  if (status === "cancelled") await store.apply(id, { type: "run.cancelled", reason: "enough", ...end });
  if (cleared) await store.apply(id, { type: "task.cleared", at: end.at + 2 });
  const task = await store.task(id);
  if (task === null) throw new Error(`${id} is not there`);
  expect(task.status).toBe(status);
  return task;
}

/** `all` is in order of creation, which decides between equal starts. */
function filtered(all: readonly Task[], query: TaskQuery): Task[] {
  const words = storable(query.search?.toLowerCase() ?? "")
    .split(/\s+/)
    .filter((word) => word !== "");
  const some = all.filter(
    (task) =>
      words.every((word) => searchable(task).includes(word)) &&
      (query.status?.includes(task.status) ?? true) &&
      task.agent === (query.agent ?? task.agent) &&
      task.host === (query.host ?? task.host) &&
      isIn(task, query.directory) &&
      task.startedAt >= (query.startedFrom ?? 0) &&
      task.startedAt < (query.startedBefore ?? Number.POSITIVE_INFINITY) &&
      task.batchId === (query.batchId ?? task.batchId) &&
      task.parentSessionId === (query.parentSessionId ?? task.parentSessionId) &&
      task.id.startsWith(query.idPrefix ?? "") &&
      (task.clearedAt !== null) === (query.cleared ?? task.clearedAt !== null),
  );
  const byStart = (one: Task, other: Task) => one.startedAt - other.startedAt;
  const byDefault = words.length === 0 ? byStart : () => 0;
  const oldest = some.sort({ ...ORDERS, started: byDefault, status: both(byStatus, byStart) }[query.sort ?? "started"]);
  return query.order === "oldest" ? oldest : oldest.reverse();
}

type Order = (one: Task, other: Task) => number;

const ORDERS: Record<"took" | "cost" | "description", Order> = {
  took: (one, other) => took(one) - took(other),
  cost: (one, other) => cost(one) - cost(other),
  description: (one, other) => Buffer.compare(sortName(one), sortName(other)),
};

function byStatus({ status: one }: Task, { status: other }: Task): number {
  return one === other ? 0 : one < other ? -1 : 1;
}

function both(first: Order, then: Order): Order {
  return (one, other) => first(one, other) || then(one, other);
}

function took({ run, status }: Task): number {
  return isLive(status) || run.endedAt === null ? 0 : run.endedAt - run.startedAt;
}

function cost({ progress, status }: Task): number {
  return isLive(status) ? 0 : progress.cost;
}

function sortName({ description }: Task): Buffer {
  return Buffer.from(Array.from(description).slice(0, 60).join("").toLowerCase());
}

function isIn({ directory }: Task, folder: string | undefined): boolean {
  if (folder === undefined) return true;
  const bare = folder.replace(/\/$/, "");
  return directory === bare || directory.startsWith(`${bare}/`);
}

function searchable({ description, id, run }: Task): string {
  return [description, id, run.error ?? ""].join("\n").toLowerCase();
}

function storable(value: string): string {
  return value.toWellFormed().replaceAll("\0", "\ufffd");
}

async function paged(store: Store, query: TaskQuery, limit: number): Promise<string[]> {
  const ids: string[] = [];
  for (;;) {
    const page = await store.tasks({ ...query, limit, offset: ids.length });
    ids.push(...page.tasks.map(({ id }) => id));
    if (page.tasks.length === 0) {
      expect(page.total).toBe(ids.length);
      return ids;
    }
  }
}
