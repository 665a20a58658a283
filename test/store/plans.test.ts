/** The statements that the store really runs, and how SQLite reads for each of them. */
import { Database as Sqlite } from "bun:sqlite";
import { afterAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { type CompiledQuery, Kysely, SqliteDialect } from "kysely";
import { TASK_SORTS } from "../../src/model/task.ts";
import { kyselyStore } from "../../src/store/kysely-store.ts";
import { sqliteStore } from "../../src/store/open.ts";
import type { Schema } from "../../src/store/schema.ts";
import type { Store, TaskQuery } from "../../src/store/store.ts";
import { sampleAttempt, sampleItem, sampleProject } from "../../src/testing/sample-board.ts";
import { temporaryFolders } from "./temporary-folder.ts";

const temporaryFolder = temporaryFolders();
const directory = temporaryFolder();
const filled = await sqliteStore({ directory });
await fillBoard(filled);
await filled.close();
const raw = new Sqlite(join(directory, "asyncagents.db"));
afterAll(() => raw.close());

const statements: CompiledQuery[] = [];
const prepare = (sql: string) => {
  const statement = raw.query<unknown, never[]>(sql);
  const all = (parameters: readonly unknown[]) => statement.all(...(parameters as never[]));
  return { reader: true, all, iterate: (parameters: readonly unknown[]) => all(parameters).values() };
};
const kysely = new Kysely<Schema>({
  dialect: new SqliteDialect({ database: { prepare, close: () => {} } as never }),
  log: ({ query }) => void statements.push(query),
});
const unused = () => Promise.reject(new Error("These tests only read."));
const store = kyselyStore({
  dialect: "sqlite",
  now: () => 0,
  read: (work) => work(kysely),
  write: unused,
  onChange: () => () => {},
  hurry() {},
  close: unused,
});

/** Two work items with two attempts each, so that a statement per item or per attempt would be seen. */
async function fillBoard({ board }: Store): Promise<void> {
  await board.addProject(sampleProject("p"));
  for (const workItemId of ["v", "w"]) {
    await board.addWorkItem(sampleItem(workItemId));
    for (const number of [1, 2]) await board.addAttempt(sampleAttempt(`${workItemId}${number}`, { workItemId }), []);
  }
}

/** SQLite's query plans for the statements of a call, in their order; one step per line. */
async function plans(call: (store: Store) => Promise<unknown>): Promise<string[]> {
  statements.length = 0;
  await call(store);
  return statements.map(({ sql, parameters }) =>
    raw
      .query<{ detail: string }, never[]>(`explain query plan ${sql}`)
      .all(...(parameters as never[]))
      .map((step) => step.detail)
      .join("\n"),
  );
}

async function page(query: TaskQuery): Promise<string> {
  const [steps = ""] = await plans(({ tasks }) => tasks(query));
  return steps;
}

/** Of the statement that counts. An empty page that is not the first does not say how many tasks there are. */
async function count(query: TaskQuery): Promise<string> {
  const [, steps] = await plans(({ tasks }) => tasks({ ...query, offset: 1 }));
  if (steps === undefined) throw new Error("nothing was counted");
  return steps;
}

const ALL_OF_A_TABLE = /SCAN (tasks|runs)(?! USING)/;
const SORTED = "TEMP B-TREE";
const window = { from: 0, to: 1_000, bucketMs: 10, durationBounds: [1, 5] };

describe("how SQLite reads", () => {
  test("each filter has its index, in the order of the page; live and owned tasks have partial ones", async () => {
    const indexes: [TaskQuery, string][] = [
      [{}, "tasks_by_start"],
      [{ cleared: false }, "tasks_by_start"],
      [{ status: ["running", "resumed"] }, "tasks_live"],
      [{ status: ["completed"] }, "tasks_by_status"],
      [{ agent: "a" }, "tasks_by_agent"],
      [{ agent: "a", status: ["error"] }, "tasks_by_agent_status"],
      [{ owner: "i" }, "tasks_owned"],
      [{ parentSessionId: "p" }, "tasks_by_parent"],
      [{ batchId: "b" }, "tasks_by_batch"],
      [{ host: "h" }, "tasks_by_host"],
      [{ startedFrom: 1, startedBefore: 5 }, "tasks_by_start"],
      [{ status: ["error"], startedFrom: 1 }, "tasks_by_status"],
      [{ agent: "a", startedFrom: 1 }, "tasks_by_agent"],
      [{ host: "h", startedFrom: 1 }, "tasks_by_host"],
    ];
    for (const [query, index] of indexes) {
      const steps = await page({ ...query, textChars: 10 });
      expect([query, steps.split("\n")[0]]).toEqual([
        query,
        expect.stringMatching(new RegExp(`USING INDEX ${index}\\b`)),
      ]);
      expect(steps).not.toMatch(ALL_OF_A_TABLE);
      expect(steps).not.toContain(SORTED);
      expect(steps).toContain("SEARCH runs USING INDEX sqlite_autoindex_runs_1 (task_id=? AND number=?)");
    }
  });

  test("the filter that leaves the fewest tasks decides, whatever the other filters", async () => {
    for (const [query, index] of [
      [{ batchId: "b", agent: "a", status: ["completed"] }, "tasks_by_batch"],
      // Both indexes begin with the parent.
      [{ parentSessionId: "p", agent: "a", status: ["completed", "error"] }, "tasks_by_(parent|message)"],
      [{ batchId: "b", search: "word" }, "tasks_by_batch"],
      [{ status: ["running", "resumed"], agent: "a", search: "word" }, "tasks_live"],
    ] as [TaskQuery, string][]) {
      const named = expect.stringMatching(new RegExp(`INDEX ${index}`));
      expect([query, (await page(query)).split("\n")[0]]).toEqual([query, named]);
      expect([query, await count(query)]).toEqual([query, named]);
    }
  });

  test("a folder is a range of its index, sorted without its rows, whatever the other filters", async () => {
    const range = "SEARCH tasks USING COVERING INDEX tasks_by_directory (directory>? AND directory<?)";
    for (const other of [{}, { status: ["completed"] }, { agent: "a" }, { startedFrom: 1 }] as TaskQuery[]) {
      const query: TaskQuery = { ...other, directory: "/repo" };
      const steps = await page(query);
      expect([query, steps]).toEqual([query, expect.stringContaining(range)]);
      expect(steps).not.toMatch(ALL_OF_A_TABLE);
      expect(await count(query)).toContain(range);
    }
    for (const sort of TASK_SORTS) {
      const steps = await page({ directory: "/repo", sort, host: "h" });
      expect(steps).toMatch(
        /SEARCH tasks USING (COVERING )?INDEX tasks_by_directory \(directory>\? AND directory<\?\)/,
      );
    }
  });

  test("a sorted list reads ended tasks in the order of its index, and filters without their rows", async () => {
    const filters: TaskQuery[] = [{}, { status: ["error"] }, { agent: "a" }, { host: "h" }, { startedFrom: 1 }];
    for (const [sort, index] of [
      ["took", "tasks_by_took"],
      ["cost", "tasks_by_cost"],
      ["description", "tasks_by_sort_name"],
    ] as const) {
      for (const filter of filters) {
        const query: TaskQuery = { ...filter, sort, limit: 10 };
        const steps = await page(query);
        expect([query, steps]).toEqual([query, expect.stringContaining(`SCAN tasks USING COVERING INDEX ${index}`)]);
        expect(steps).not.toMatch(ALL_OF_A_TABLE);
        if (filter.status === undefined) expect(steps).toContain("MERGE (UNION ALL)");
        // The page itself and the few live tasks.
        expect([query, steps.split(SORTED).length]).toEqual([query, filter.status === undefined ? 3 : 2]);
      }
    }
    expect(await page({ sort: "status" })).toContain("SCAN tasks USING COVERING INDEX tasks_by_status");
    expect(await page({ sort: "status", agent: "a" })).toContain("tasks_by_agent_status (agent=?)");
  });

  test("a selection for an action on many tasks takes the same ways as a page", async () => {
    const [all = ""] = await plans(({ selectTasks }) => selectTasks({ status: ["error"], startedFrom: 1 }));
    expect(all).toContain("SEARCH tasks USING COVERING INDEX tasks_by_status (status=? AND started_at>?)");
    const [found = ""] = await plans(({ selectTasks }) => selectTasks({ search: "word", sort: "cost" }));
    expect(found).toMatch(/SCAN task_search VIRTUAL TABLE INDEX \S*M/);
    for (const steps of [all, found]) expect(steps).not.toMatch(ALL_OF_A_TABLE);
  });

  test("owners are looked up one by one, and tasks without one have an index", async () => {
    const [owners = ""] = await plans((each) => each.owners());
    expect(owners.match(/SEARCH tasks USING COVERING INDEX tasks_owned \(owner>\?\)/g)?.length).toBe(2);
    const [ownerless = ""] = await plans((each) => each.ownerless());
    expect(ownerless.split("\n")[0]).toBe("SCAN tasks USING INDEX tasks_ownerless");
    expect(await page({ owner: "i", status: ["running", "resumed"], order: "oldest" })).toContain("INDEX tasks_owned");
  });

  test("several statuses are merged in order, and entries before the page are skipped in the index alone", async () => {
    const merged = await page({ status: ["completed", "error"], limit: 10 });
    expect(merged.match(/SEARCH tasks USING COVERING INDEX tasks_by_status \(status=\?\)/g)?.length).toBe(2);
    expect(merged).toContain("MERGE (UNION ALL)");
    // Only the page itself is sorted again, at the end.
    expect(merged.split(SORTED).length).toBe(2);
    expect(await page({ offset: 10 })).toContain("SCAN tasks USING COVERING INDEX tasks_by_start");
    expect(await page({ agent: "a", status: ["completed", "error"], offset: 10 })).toContain(
      "SEARCH tasks USING COVERING INDEX tasks_by_agent_status (agent=? AND status=?)",
    );
  });

  test("a keyword is found through its index in its order, and the results are filtered through another", async () => {
    const filter = "SEARCH tasks USING COVERING INDEX tasks_by_creation (created_seq=?)";
    const found = /SCAN task_search VIRTUAL TABLE INDEX \S*M/;
    const plain = await page({ search: "word" });
    expect(plain).toMatch(found);
    expect(plain).not.toContain(filter);
    expect(await count({ search: "word" })).not.toContain("tasks USING");
    const filtered: TaskQuery = { search: "word", status: ["completed", "error"], agent: "a" };
    for (const steps of [await page(filtered), await count(filtered)]) {
      expect(steps).toMatch(found);
      expect(steps).toContain(filter);
      expect(steps).not.toMatch(ALL_OF_A_TABLE);
    }
    expect(await page({ search: "wo" })).toContain("SCAN tasks USING INDEX tasks_by_creation");
  });

  test("parents with unsettled notices are found through a dedicated index", async () => {
    const [steps] = await plans(({ parentsWithNotices }) => parentsWithNotices());
    expect(steps).toContain("USING COVERING INDEX notices_open");
  });

  test("what needs a person is found through indexes of its own", async () => {
    const [waiting = "", failed = ""] = await plans(({ inboxTasks }) => inboxTasks({ failedAfter: 5 }));
    expect(waiting).toContain("USING INDEX tasks_waiting");
    expect(failed).toContain(
      "SEARCH tasks USING INDEX tasks_unread_failures (status=? AND parent_session_id=? AND completed_at>?)",
    );
    for (const steps of [waiting, failed]) {
      expect(steps).not.toMatch(ALL_OF_A_TABLE);
      expect(steps).not.toContain(SORTED);
    }
  });

  test("the history and the runs of a batch are ranges of indexes", async () => {
    const [started = "", durations = ""] = await plans(({ history }) => history(window));
    expect(
      started.match(/SEARCH tasks USING COVERING INDEX tasks_by_status \(status=\? AND started_at>\?/g)?.length,
    ).toBe(5);
    expect(durations).toContain("SEARCH runs USING COVERING INDEX runs_by_end (ended_at>? AND ended_at<?)");
    const [runs = ""] = await plans(({ batchRuns }) => batchRuns("b"));
    expect(runs).toContain("SEARCH tasks USING INDEX tasks_by_batch (batch_id=?)");
    expect(runs).toContain("SEARCH runs USING INDEX sqlite_autoindex_runs_1 (task_id=?)");
    for (const steps of [started, durations, runs]) expect(steps).not.toMatch(ALL_OF_A_TABLE);
  });

  test("the history counts each bucket of its window, and none beyond", async () => {
    await plans(({ history }) => history(window));
    const [{ sql, parameters } = { sql: "", parameters: [] }] = statements;
    const counted = raw.query<{ bucket: number }, never[]>(sql).all(...(parameters as never[]));
    expect(counted.map(({ bucket }) => bucket)).toEqual(Array.from({ length: 100 }, (_, bucket) => bucket));
  });

  test("a page of the board's lists takes the same statements, however many rows it has", async () => {
    const lists: ((store: Store, limit: number) => Promise<readonly unknown[]>)[] = [
      ({ board }, limit) => board.workItems("p", { status: null, search: "" }, { limit, after: null }),
      ({ board }, limit) => board.attempts("w", { limit, after: null }),
      ({ board }, limit) => board.allAttempts(null, { limit, after: null }),
    ];
    for (const list of lists) {
      const counts: number[] = [];
      for (const limit of [1, 2]) {
        const read = await plans(async (store) => expect(await list(store, limit)).toHaveLength(limit));
        counts.push(read.length);
      }
      expect(counts[0]).toBe(counts[1]);
    }
  });

  test("the board's lists are read in index order, and the details of each row are found by key", async () => {
    const first = { limit: 50, after: null };
    const next = { limit: 50, after: { createdAt: 5, id: "x" } };
    for (const page of [first, next]) {
      const [all = ""] = await plans(({ board }) => board.workItems("p", { status: null, search: "" }, page));
      expect(all).toContain("SEARCH work_items USING INDEX work_items_newest (project_id=?");
      const [some = ""] = await plans(({ board }) => board.workItems("p", { status: "todo", search: "" }, page));
      expect(some).toContain("SEARCH work_items USING INDEX work_items_by_status (project_id=? AND status=?");
      for (const steps of [all, some]) {
        expect(steps).toContain("SEARCH a USING COVERING INDEX attempts_newest (work_item_id=?)");
        expect(steps).toContain("SEARCH s USING COVERING INDEX board_sessions_newest (attempt_id=?)");
        expect(steps).toContain("SEARCH live USING INDEX tasks_by_batch (batch_id=?)");
      }
      const [attempts = ""] = await plans(({ board }) => board.attempts("w", page));
      expect(attempts).toContain("SEARCH attempts USING INDEX attempts_newest (work_item_id=?");
      for (const steps of [all, some, attempts]) {
        expect(steps).not.toContain(SORTED);
        expect(steps).not.toMatch(/SCAN \w+/);
        expect(steps.split("\n")[0]).toContain(page.after === null ? "=?)" : "created_at");
      }
    }
    const [every = ""] = await plans(({ board }) =>
      board.allAttempts(null, { limit: 50, after: { createdAt: 5, id: "a" } }),
    );
    expect(every.split("\n")[0]).toBe("SEARCH attempts USING INDEX attempts_all_newest (created_at<?)");
    expect(every).not.toContain(SORTED);
    const [head] = await plans(({ board }) => board.queue("s"));
    expect(head).toBe("SEARCH follow_ups USING INDEX follow_ups_in_order (session_id=?)");
    const [worktrees, folders] = await plans(({ board }) => board.attemptAt(["/a/b", "/a"]));
    expect(worktrees).toBe("SEARCH attempt_repos USING INDEX attempt_repos_by_path (path=?)");
    expect(folders).toBe("SEARCH attempts USING INDEX attempts_by_folder (folder=?)");
    const [approval] = await plans(({ board }) => board.approval("setup", "s"));
    expect(approval).toBe("SEARCH approvals USING INDEX approvals_by_subject (kind=? AND subject=?)");
  });
});
