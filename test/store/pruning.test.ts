/** What pruning removes, how SQLite finds it, and the command and the daemon that do it. */
import { Database as Sqlite } from "bun:sqlite";
import { expect, test } from "bun:test";
import { join } from "node:path";
import { type CompiledQuery, Kysely, SqliteDialect } from "kysely";
import { DailyPrune } from "../../src/daemon/daily-prune.ts";
import { claudeClient } from "../../src/model/notifications/follower.ts";
import { systemClock } from "../../src/process/clock.ts";
import { kyselyStore } from "../../src/store/kysely-store.ts";
import { sqliteStore } from "../../src/store/open.ts";
import { TABLES_OF_TASKS } from "../../src/store/pruning/prune.ts";
import type { Schema } from "../../src/store/schema.ts";
import type { Store } from "../../src/store/store.ts";
import { completed, create } from "../../src/testing/sample-task.ts";
import { cliWorld, MAIN } from "../cli/cli-bed.ts";
import { temporaryFolders } from "./temporary-folder.ts";

const temporaryFolder = temporaryFolders();
const DAY_MS = 86_400_000;

/** Two tasks that ended 40 and 20 days ago, one whose parent has not been told of it, and a live one. */
async function fill(store: Store): Promise<void> {
  const now = Date.now();
  for (const [id, days, parentSessionId] of [
    ["old", 40, ""],
    ["young", 20, ""],
    ["untold", 40, "parent"],
  ] as const) {
    await create(store, id, { batchId: id, parentSessionId }, now - days * DAY_MS);
    await store.apply(id, completed(now - days * DAY_MS + 1_000));
  }
  await create(store, "live", { batchId: "live", parentSessionId: "" }, now - 50 * DAY_MS);
}

async function openFilled(directory: string): Promise<Store> {
  const store = await sqliteStore({ directory });
  await fill(store);
  return store;
}

test("every table whose rows name a task is pruned with it", async () => {
  const directory = temporaryFolder();
  await (await openFilled(directory)).close();
  const raw = new Sqlite(join(directory, "asyncagents.db"), { readonly: true });
  const tables = raw
    .query<{ name: string }, []>(
      "select m.name from sqlite_schema m join pragma_table_info(m.name) c where m.type = 'table' and c.name = 'task_id'",
    )
    .all();
  raw.close();
  expect(tables.map(({ name }) => name).sort()).toEqual([...TABLES_OF_TASKS].sort());
});

test("each statement finds its rows by an index, whatever else is stored", async () => {
  const directory = temporaryFolder();
  await (await openFilled(directory)).close();
  const raw = new Sqlite(join(directory, "asyncagents.db"));
  const statements: CompiledQuery[] = [];
  const prepare = (sql: string) => {
    const statement = raw.query<unknown, never[]>(sql);
    return {
      reader: statement.columnNames.length > 0,
      all: (parameters: readonly unknown[]) => statement.all(...(parameters as never[])),
      run: (parameters: readonly unknown[]) => statement.run(...(parameters as never[])),
    };
  };
  const kysely = new Kysely<Schema>({
    dialect: new SqliteDialect({ database: { prepare, close: () => {} } as never }),
    log: ({ query }) => void statements.push(query),
  });
  const run = <T>(work: (kysely: Kysely<Schema>) => Promise<T>) => work(kysely);
  const database = {
    dialect: "sqlite",
    now: () => 0,
    read: run,
    write: run,
    onChange: () => () => {},
    hurry() {},
    close: async () => {},
  } as const;
  const { removed } = await kyselyStore(database).prune({ endedBefore: Date.now(), after: null, dryRun: false });
  expect(removed.tasks).toBe(2);
  const plans = statements.map(({ sql, parameters }) =>
    raw
      .query<{ detail: string }, never[]>(`explain query plan ${sql}`)
      .all(...(parameters as never[]))
      .map(({ detail }) => `${detail} for ${sql}`)
      .join("\n"),
  );
  raw.close();
  expect(plans.some((plan) => plan.includes("SEARCH tasks USING INDEX tasks_by_start (started_at<?)"))).toBe(true);
  // Of the larger tables only live tasks are read one after the other, and the end of the feed.
  const scans = plans.join("\n").match(/SCAN (tasks|runs|events|notices|parents|attempts|board_sessions)\b[^\n]* for/g);
  expect([...new Set(scans)].sort()).toEqual(["SCAN events for", "SCAN tasks USING INDEX tasks_live for"]);
});

test("the daemon prunes after a while and then daily, if a limit is set", async () => {
  const store = await openFilled(temporaryFolder());
  const timers: { ms: number; work: () => void }[] = [];
  const logged: string[] = [];
  const done = Promise.withResolvers<void>();
  const note = (message: string) => {
    logged.push(message);
    done.resolve();
  };
  const after = (ms: number, work: () => void) => {
    timers.push({ ms, work });
    return () => {};
  };
  const log = { info: note, error: note };
  // Without a limit, only what programs do not come back for is given up.
  const client = claudeClient("gone");
  await create(store, "followed", { parentSessionId: "", batchId: "other" });
  await store.followers.add({ handle: "followed", client, way: "hook", callId: null }, 1_000);
  await store.apply("followed", completed(2_000));
  const idle = new DailyPrune({ ...systemClock, after, store, log }, {});
  timers[0]?.work();
  await idle.stop();
  expect(await store.task("old")).not.toBeNull();
  expect(await store.lastNotice("followed")).toMatchObject({
    state: "dropped",
    reason: expect.stringContaining("30 days"),
  });
  timers.length = 0;
  const prune = new DailyPrune({ ...systemClock, after, store, log }, { olderThanMs: 30 * DAY_MS });
  timers[0]?.work();
  await done.promise;
  await prune.stop();
  expect(timers.map(({ ms }) => ms)).toEqual([1_200_000, DAY_MS]);
  expect([logged, await store.task("old")]).toEqual([["the store was pruned"], null]);
  await store.close();
});

test("asyncagents prune says what would go, removes it, and says what stays and why", async () => {
  const world = cliWorld();
  await (await openFilled(world.data)).close();
  const dry = await world.cli("prune", "--older-than", "30d", "--dry-run");
  expect(dry.out).toBe(
    "Would remove 1 task (rows of runs: 1, events: 2).\nKept 1 with a notice that is not delivered.\n",
  );
  world.environment.ASYNCAGENTS_DEPTH = "1";
  const agents = await world.cli("prune", "--older-than", "30d");
  expect([agents.code, agents.err]).toEqual([1, expect.stringContaining("Only people can remove tasks for good")]);
  delete world.environment.ASYNCAGENTS_DEPTH;
  const removed = { tasks: 1, runs: 1, events: 2, notices: 0, board_sessions: 0, queued_runs: 0 };
  expect(await world.json("prune", "--older-than", "30d")).toMatchObject({
    dryRun: false,
    removed,
    kept: { notice: 1 },
    complete: true,
  });
  const again = await world.cli("prune", "--keep", "100");
  expect([again.code, again.out]).toEqual([0, "Nothing to remove.\n"]);
  const store = await sqliteStore({ directory: world.data });
  expect((await store.tasks({})).tasks.map(({ id }) => id).sort()).toEqual(["live", "untold", "young"]);
  const audit = await store.access.audit({ subject: null });
  expect(audit.map(({ by, operation, outcome }) => `${by}: ${operation} ${outcome}`)).toEqual([
    "local user: prune done",
    "local user: prune done",
  ]);
  await store.close();
  for (const [words, problem] of [
    [[], "Say what may go"],
    [["--older-than", "soon"], 'takes hours or days, such as 12h or 90d, not "soon"'],
    [["--older-than", "30"], 'takes hours or days, such as 12h or 90d, not "30"'],
    [["--keep", "0"], "must be a whole number"],
  ] as const) {
    const wrong = await world.cli("prune", ...words);
    expect([wrong.code, wrong.err]).toEqual([2, expect.stringContaining(problem)]);
  }
}, 60_000);

test("at a terminal asyncagents prune says how many go, and asks first", async () => {
  const world = cliWorld();
  await (await openFilled(world.data)).close();
  const prune = [process.execPath, MAIN, "prune", "--older-than", "30d"];
  const [no, yes, unasked] = [await typed(prune, "n"), await typed(prune, "y"), await typed([...prune, "-y"], "")];
  expect(no).toMatchObject({
    code: 1,
    text: expect.stringMatching(/Remove 1 task for good\?[\s\S]*Nothing was removed/),
  });
  expect(yes).toMatchObject({ code: 0, text: expect.stringContaining("Removed 1 task (") });
  expect(unasked).toMatchObject({ code: 0, text: expect.not.stringContaining("[y/N]") });

  async function typed(command: string[], answer: string): Promise<{ code: number; text: string }> {
    let text = "";
    const data = (terminal: { write(text: string): unknown }, bytes: Uint8Array) => {
      const isAsked = text.includes("[y/N]");
      text += Buffer.from(bytes).toString("utf8");
      if (!isAsked && text.includes("[y/N]")) terminal.write(`${answer}\r`);
    };
    const { cwd, env } = { cwd: world.work, env: world.environment };
    const child = Bun.spawn(command, { cwd, env, terminal: { cols: 100, rows: 24, data } });
    return { code: await child.exited, text };
  }
}, 60_000);
