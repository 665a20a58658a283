import { Database as Sqlite } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { noProgress } from "../../../src/model/progress.ts";
import type { Task } from "../../../src/model/task.ts";
import { transition } from "../../../src/model/transition.ts";
import { sqliteStore } from "../../../src/store/open.ts";
import { create } from "../../../src/testing/sample-task.ts";
import { temporaryFolders } from "../temporary-folder.ts";

const temporaryFolder = temporaryFolders();

const at = (time: number) => new Date(time).toISOString();

async function storeFrom(text: string) {
  const directory = temporaryFolder();
  writeFileSync(join(directory, "tasks.json"), text);
  const lines: string[] = [];
  const store = await sqliteStore({ directory, log: (line) => lines.push(line) });
  const aside = () => readdirSync(directory).filter((name) => name.startsWith("tasks.json.damaged-"));
  return { directory, store, lines, aside };
}

describe("the import", () => {
  const seed = { description: "Research task", agent: "explore", parentSessionID: "ses_p", createdAt: at(5_000) };

  test("reads the minimal format; running tasks are interrupted; no notices are sent; replay is correct [PD-02]", async () => {
    const { store, aside } = await storeFrom(
      JSON.stringify({
        ses_done: { ...seed, status: "completed", resumeCount: 2 },
        ses_ran: { ...seed, status: "running", createdAt: at(6_000) },
        ses_again: { ...seed, status: "resumed", resumeCount: 1, createdAt: at(7_000) },
      }),
    );
    const { tasks } = await store.tasks({ order: "oldest" });
    expect(tasks.map((task) => [task.id, task.status, task.run.number, task.run.error, task.startedAt])).toEqual([
      ["ses_done", "completed", 2, null, 5_000],
      ["ses_ran", "error", 0, "interrupted", 6_000],
      ["ses_again", "error", 1, "interrupted", 7_000],
    ]);
    expect(await store.parentsWithNotices()).toEqual([]);
    const folded = new Map<string, Task | null>();
    for (const { taskId, event } of await store.feed(0)) {
      folded.set(taskId, transition(folded.get(taskId) ?? null, event).task);
    }
    expect([...folded.values()]).toEqual(tasks);
    expect(aside()).toEqual([]);

    const again = await store.apply("ses_done", {
      type: "task.resumed",
      at: 9_000,
      prompt: "go on",
      messageId: "m",
      owner: "i",
      allow: [],
    });
    expect(again).toMatchObject({ changed: true, task: { status: "resumed", run: { number: 3 } } });
    await store.close();
  });

  test("restores everything that the mirror wrote", async () => {
    const directory = temporaryFolder();
    const store = await sqliteStore({ directory });
    await create(store, "ses_a", { isForked: true, model: "p/m", batchId: "b7" }, 1_000);
    await store.apply("ses_a", {
      type: "run.cancelled",
      at: 2_000,
      run: 0,
      reason: "enough",
      progress: { ...noProgress(1_500), toolCalls: 3, toolCallsByName: { read: 3 }, lastTools: ["read"], cost: 0.5 },
    });
    const before = await store.task("ses_a");
    await store.close();
    const copy = await storeFrom(readFileSync(join(directory, "tasks.json"), "utf8"));
    const after = await copy.store.task("ses_a");
    expect(after).toEqual({ ...before, run: { ...before?.run, prompt: "", messageId: "" } } as Task);
    expect(copy.aside()).toEqual([]);
    await copy.store.close();
  });

  test("happens once, and never if the store has tasks", async () => {
    const { directory, store } = await storeFrom(JSON.stringify({ ses_a: { ...seed, status: "completed" } }));
    await store.close();
    writeFileSync(join(directory, "tasks.json"), JSON.stringify({ ses_b: { ...seed, status: "completed" } }));
    const later = await sqliteStore({ directory });
    expect((await later.tasks({})).tasks.map((task) => task.id)).toEqual(["ses_a"]);
    await later.close();
  });

  test("a recount after a rebuild that fails is repeated by the next process that opens the store", async () => {
    const { directory, store } = await storeFrom(JSON.stringify({ ses_a: { ...seed, status: "completed" } }));
    await store.close();
    const file = new Sqlite(join(directory, "asyncagents.db"));
    file.run("insert into meta (key, value) values ('rebuilt', 'pending')");
    file.run("update agent_totals set completed = 7");
    file.run("create trigger broken before delete on agent_totals begin select raise(abort, 'broken'); end");
    await expect(sqliteStore({ directory })).rejects.toThrow("broken");
    file.run("drop trigger broken");
    file.close();
    const later = await sqliteStore({ directory });
    expect((await later.agentTotals()).map(({ byStatus }) => byStatus.completed)).toEqual([1]);
    await later.close();
  });

  test.each([
    ["not JSON", '{"ses_a": {"descr'],
    ["empty", ""],
    ["a list", "[]"],
    ["null", "null"],
  ])("a damaged file (%s) is set aside unchanged, with a log line", async (_what, text) => {
    const { directory, store, lines, aside } = await storeFrom(text);
    expect((await store.tasks({})).total).toBe(0);
    expect(aside().length).toBe(1);
    expect(readFileSync(join(directory, aside()[0] ?? ""), "utf8")).toBe(text);
    expect(existsSync(join(directory, "tasks.json"))).toBe(false);
    expect(lines[0]).toContain("is damaged and was set aside");
    await store.close();
  });

  test("wrong entries are skipped and the file is set aside; the valid ones are imported", async () => {
    const { store, lines, aside } = await storeFrom(
      JSON.stringify({
        ses_good: { ...seed, status: "cancelled" },
        ses_extra: { ...seed, status: "completed", progress: "much", completedAt: 7 },
        ses_status: { ...seed, status: "asleep" },
        ses_time: { ...seed, status: "completed", createdAt: "yesterday" },
        ses_text: { ...seed, status: "completed", description: 7 },
        ses_null: null,
        "": { ...seed, status: "completed" },
      }),
    );
    expect((await store.tasks({})).tasks.map((task) => task.id).sort()).toEqual(["ses_extra", "ses_good"]);
    expect(aside().length).toBe(1);
    expect(lines.length).toBe(2);
    await store.close();
  });
});
