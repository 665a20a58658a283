/**
 * A server with a board, scripted agents and a real store for fuzzing: what exists in it, what it answers, and
 * everything it stores (rows, worktrees, branches) as one text, to show that a rejected input changed nothing.
 */
import { Database } from "bun:sqlite";
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { NO_OTHERS } from "../../src/board/remote-operations.ts";
import { Desk } from "../../src/engine/desk.ts";
import { Overview } from "../../src/engine/watching/overview.ts";
import { folderToken } from "../../src/http/access/token-file.ts";
import { startApiServer } from "../../src/http/server.ts";
import { mcpHandler } from "../../src/mcp/mcp-handler.ts";
import { isQueueHeld } from "../../src/model/board.ts";
import { isLive } from "../../src/model/task.ts";
import { isInstanceAlive } from "../../src/process/liveness.ts";
import type { Store } from "../../src/store/store.ts";
import { openSide } from "../board/board-side.ts";
import type { GitBed } from "../worktree/git-bed.ts";
import type { Kind } from "./plausible.ts";

/** Kept alive by the process itself, derived from other tables, or a record of calls, also of those that fail. */
const VOLATILE = /^(instances|meta|agent_totals|sqlite_.*|task_search.*|audit)$/;
/** Progress is written some time after it was made, so it is left out. */
const ROWS: Record<string, string> = {
  tasks:
    "select id, status, phase, phase_detail, run, cancel_requested_at, result_retrieved_at, cleared_at, owner from tasks",
  events: "select * from events where type <> 'run.progressed'",
};
/** Runs that go on by themselves: all but those that wait for a person or for room, unless they are being stopped. */
const BUSY = `select (select count(*) from tasks where status in ('running', 'resumed')
  and (phase is null or phase not in ('waiting', 'queued') or cancel_requested_at is not null))
  + (select count(*) from steering where state = 'accepted') as count`;
/** No retry falls into the time of another input. */
const NEVER_MS = 2 ** 31 - 1;
const STILL_MS = 15;
const SETTLED_MS = 3_000;

const POOLS: Record<Exclude<Kind, "cursor">, string> = {
  project: "select id from projects",
  repo: "select id from repos",
  item: "select id from work_items",
  attempt: "select id from attempts",
  session: "select id from board_sessions",
  handle: "select id from tasks",
  batch: "select distinct batch_id as id from tasks where batch_id is not null",
};

export interface FuzzBed {
  url: string;
  token: string;
  /** Paths of every kind, good and bad. */
  paths: readonly string[];
  /** Cursors that lists have returned. */
  cursors: string[];
  logged: string[];
  pools(): Record<Kind, readonly string[]>;
  /** Adds another project with work items and attempts when inputs have removed too much. */
  replenish(): Promise<void>;
  /** Resolves when nothing is in progress any more. */
  settled(): Promise<void>;
  /** Everything stored, by table or place. */
  kept(): Map<string, string>;
  stop(): Promise<void>;
}

export async function fuzzBed(git: GitBed): Promise<FuzzBed> {
  const side = await openSide(git.folder(), { scriptedForModels: true, retryPause: NEVER_MS });
  await side.board.start();
  const desk = new Desk({
    store: side.store,
    isAlive: isInstanceAlive,
    engines: () => side.runner.engines(),
    open: (host, path) => side.runner.open(host, path),
  });
  const logged: string[] = [];
  const note = (message: string, details?: object) => logged.push(`${message} ${JSON.stringify(details ?? {})}`);
  const log = { info: () => {}, error: note };
  const mcp = mcpHandler({ call: side.call, version: "1", toolset: "extended", scripted: true, log });
  const server = startApiServer({
    overview: new Overview(side.store),
    desk,
    remote: NO_OTHERS,
    directory: side.folder,
    log,
    port: 0,
    origins: [],
    daemon: { board: side.call, mcp },
  });
  const repos = [git.repo("one"), git.repo("two")];
  let projects = 0;
  const addProject = async () => {
    const { project_id } = await side.call("add_project", { name: `seeded ${++projects}` });
    const { repo_id } = await side.call("add_repo", { project_id, path: repos[projects % 2] ?? "" });
    const target = { executor: "SCRIPTED", repos: [{ repo_id, target_branch: "main" }] };
    for (const title of ["!write seeded.txt one", "!ask what now?", "third"]) {
      const { task_id } = await side.call("create_task", { project_id, title });
      if (title !== "third") await side.call("start_task_attempt", { task_id, ...target });
    }
  };
  const database = new Database(join(side.folder, "asyncagents.db"), { readonly: true });
  const tables = (database.query("select name from sqlite_master where type = 'table'").all() as { name: string }[])
    .map(({ name }) => name)
    .filter((name) => !VOLATILE.test(name));
  const version = () => (database.query("pragma data_version").get() as { data_version: number }).data_version;
  const cursors: string[] = [];
  let read = { version: -1, rows: new Map<string, string>() };
  const busy = database.query(BUSY);
  const settled = async () => {
    const deadline = Date.now() + SETTLED_MS;
    for (let before = read.version; Date.now() < deadline; await pause(STILL_MS)) {
      const now = version();
      if (now === before && (busy.get() as { count: number }).count === 0 && !(await isFollowUpDue(side.store))) return;
      before = now;
    }
  };
  const scarce = database.query(
    "select (select count(*) from repos) < 2 or (select count(*) from work_items) < 4 or (select count(*) from attempts) < 2 as few",
  );
  return {
    url: server.url,
    token: folderToken(side.folder),
    paths: somePaths(git.folder(), repos),
    cursors,
    logged,
    settled,
    pools() {
      const rows = Object.entries(POOLS).map(([kind, sql]) => [
        kind,
        (database.query(sql).all() as { id: string }[]).map(({ id }) => id),
      ]);
      return { ...Object.fromEntries(rows), cursor: cursors };
    },
    async replenish() {
      if ((scarce.get() as { few: number }).few === 0) return;
      await addProject();
      await settled();
    },
    kept() {
      const now = version();
      if (now !== read.version) read = { version: now, rows: rowsIn(database, tables) };
      const folders = [side.worktrees, ...repos.map((path) => join(path, ".git"))];
      return new Map([...read.rows, ...folders.map((folder) => [folder, placesIn(folder, 3).join("\n")] as const)]);
    },
    async stop() {
      database.close();
      await server.stop();
      await side.close();
    },
  };
}

/** Whether the end of a run has made a session idle whose queue is about to go on. */
async function isFollowUpDue(store: Store): Promise<boolean> {
  for (const sessionId of await store.board.queuedSessions()) {
    const [session, queue] = await Promise.all([store.board.session(sessionId), store.board.queue(sessionId)]);
    const task = session && (await store.task(session.taskId));
    if (!task || isLive(task.status) || queue.head === null) continue;
    if (queue.head.error === null && !isQueueHeld(task.run, queue.afterRun)) return true;
  }
  return false;
}

function rowsIn(database: Database, tables: readonly string[]): Map<string, string> {
  return new Map(
    tables.map((table) => [table, JSON.stringify(database.query(ROWS[table] ?? `select * from "${table}"`).values())]),
  );
}

/** Names of files and folders, and the commits of branches. */
function placesIn(folder: string, depth: number): string[] {
  let entries: import("node:fs").Dirent[];
  try {
    entries = readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
  return entries.flatMap((entry) => {
    const path = join(folder, entry.name);
    // Git writes these on every read, and unreachable objects are not a change.
    if (["objects", "index", "logs", "ORIG_HEAD", "gc.log"].includes(entry.name)) return [];
    if (entry.isDirectory()) return depth > 0 ? [path, ...placesIn(path, depth - 1)] : [path];
    return [folder.includes("/refs/") ? `${path} ${readFileSync(path, "utf8")}` : path];
  });
}

function somePaths(folder: string, repos: readonly string[]): string[] {
  const inFolder = (name: string) => join(folder, name);
  mkdirSync(inFolder("empty"));
  writeFileSync(inFolder("file"), "");
  symlinkSync(inFolder("loop"), inFolder("loop"));
  symlinkSync(repos[0] ?? "/", inFolder("link"));
  return [
    ...repos,
    ...repos,
    inFolder("empty"),
    inFolder("link"),
    join(repos[0] ?? "/", ".git"),
    `${repos[0]}/`,
    inFolder("none"),
    inFolder("file"),
    join(inFolder("file"), "x"),
    inFolder("loop"),
    join(inFolder("loop"), "x"),
    inFolder("x".repeat(300)),
    `/${"x/".repeat(2040)}`,
    `/${"x/".repeat(2100)}`,
    `${repos[0]}\u0000`,
    "\u0000",
    "relative",
    "",
    ".",
    "~",
    "/proc/1/root",
    "/dev/null",
    "-x",
    `${repos[0]}/../one`,
    "/\uD800",
    "file:///etc",
  ];
}
