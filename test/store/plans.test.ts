import { Database as Sqlite } from "bun:sqlite";
import { afterAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import type { CompiledQuery, Kysely } from "kysely";
import { selectAllAttempts, selectAttemptsAt, selectAttemptsOf } from "../../src/store/board/attempts.ts";
import { selectHead } from "../../src/store/board/follow-ups.ts";
import { selectWorkItems } from "../../src/store/board/work-items.ts";
import { sqliteStore } from "../../src/store/open.ts";
import type { Schema } from "../../src/store/schema.ts";
import { sqliteDatabase } from "../../src/store/sqlite/sqlite-database.ts";
import type { TaskQuery } from "../../src/store/store.ts";
import { selectBatchRuns } from "../../src/store/tasks/batches.ts";
import { shapeOf } from "../../src/store/tasks/filters.ts";
import { selectDurations, selectStarted } from "../../src/store/tasks/history.ts";
import { countQuery, pageStatement } from "../../src/store/tasks/list.ts";
import { selectParentsWithNotices } from "../../src/store/tasks/notices.ts";
import { temporaryFolders } from "./temporary-folder.ts";

const temporaryFolder = temporaryFolders();
const directory = temporaryFolder();
await (await sqliteStore({ directory })).close();
const file = join(directory, "asyncagents.db");
const database = await sqliteDatabase({ file });
const raw = new Sqlite(file);
afterAll(async () => {
  raw.close();
  await database.close();
});

/** SQLite's query plan for a statement, one step per line. */
function plan(make: (kysely: Kysely<Schema>) => CompiledQuery<unknown>): Promise<string> {
  return database.read(async (kysely) => {
    const { sql, parameters } = make(kysely);
    const steps = raw.query<{ detail: string }, never[]>(`explain query plan ${sql}`).all(...(parameters as never[]));
    return steps.map((step) => step.detail).join("\n");
  });
}
const page = (query: TaskQuery) => plan((kysely) => pageStatement(kysely, shapeOf("sqlite", query), query));
const count = (query: TaskQuery) => plan((kysely) => countQuery(kysely, shapeOf("sqlite", query), query));

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
      [{ parentSessionId: "p", agent: "a", status: ["completed", "error"] }, "tasks_by_parent"],
      [{ batchId: "b", search: "word" }, "tasks_by_batch"],
      [{ status: ["running", "resumed"], agent: "a", search: "word" }, "tasks_live"],
    ] as [TaskQuery, string][]) {
      expect([query, (await page(query)).split("\n")[0]]).toEqual([query, expect.stringContaining(`INDEX ${index}`)]);
      expect([query, await count(query)]).toEqual([query, expect.stringContaining(`INDEX ${index}`)]);
    }
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
    const steps = await plan((kysely) => selectParentsWithNotices(kysely).compile());
    expect(steps).toContain("USING COVERING INDEX notices_open");
  });

  test("the history and the runs of a batch are ranges of indexes", async () => {
    const started = await plan((kysely) => selectStarted(kysely, window, 100).compile());
    expect(
      started.match(/SEARCH tasks USING COVERING INDEX tasks_by_status \(status=\? AND started_at>\?/g)?.length,
    ).toBe(5);
    const durations = await plan((kysely) => selectDurations(kysely, window).compile());
    expect(durations).toContain("SEARCH runs USING COVERING INDEX runs_by_end (ended_at>? AND ended_at<?)");
    const runs = await plan((kysely) => selectBatchRuns(kysely, "b").compile());
    expect(runs).toContain("SEARCH tasks USING INDEX tasks_by_batch (batch_id=?)");
    expect(runs).toContain("SEARCH runs USING INDEX sqlite_autoindex_runs_1 (task_id=?)");
    for (const steps of [started, durations, runs]) expect(steps).not.toMatch(ALL_OF_A_TABLE);
  });

  test("the board's lists are read in index order, and the details of each row are found by key", async () => {
    const first = { limit: 50, after: null };
    const next = { limit: 50, after: { createdAt: 5, id: "x" } };
    for (const page of [first, next]) {
      const all = await plan((kysely) => selectWorkItems(kysely, "p", { status: null, search: "" }, page).compile());
      expect(all).toContain("SEARCH work_items USING INDEX work_items_newest (project_id=?");
      const some = await plan((kysely) => selectWorkItems(kysely, "p", { status: "todo", search: "" }, page).compile());
      expect(some).toContain("SEARCH work_items USING INDEX work_items_by_status (project_id=? AND status=?");
      for (const steps of [all, some]) {
        expect(steps).toContain("SEARCH a USING COVERING INDEX attempts_newest (work_item_id=?)");
        expect(steps).toContain("SEARCH s USING COVERING INDEX board_sessions_newest (attempt_id=?)");
        expect(steps).toContain("SEARCH live USING INDEX tasks_by_batch (batch_id=?)");
      }
      const attempts = await plan((kysely) => selectAttemptsOf(kysely, "w", page).compile());
      expect(attempts).toContain("SEARCH attempts USING INDEX attempts_newest (work_item_id=?");
      for (const steps of [all, some, attempts]) {
        expect(steps).not.toContain(SORTED);
        expect(steps).not.toMatch(/SCAN \w+/);
        expect(steps.split("\n")[0]).toContain(page.after === null ? "=?)" : "created_at");
      }
    }
    const every = await plan((kysely) =>
      selectAllAttempts(kysely, null, { limit: 50, after: { createdAt: 5, id: "a" } }).compile(),
    );
    expect(every.split("\n")[0]).toBe("SEARCH attempts USING INDEX attempts_all_newest (created_at<?)");
    expect(every).not.toContain(SORTED);
    const head = await plan((kysely) => selectHead(kysely, "s").compile());
    expect(head).toBe("SEARCH follow_ups USING INDEX follow_ups_in_order (session_id=?)");
    const paths = ["/a/b", "/a"];
    const worktrees = await plan((kysely) => selectAttemptsAt(kysely, paths).worktrees.compile());
    expect(worktrees).toBe("SEARCH attempt_repos USING INDEX attempt_repos_by_path (path=?)");
    const folders = await plan((kysely) => selectAttemptsAt(kysely, paths).folders.compile());
    expect(folders).toBe("SEARCH attempts USING INDEX attempts_by_folder (folder=?)");
  });
});
