/** Tidying of clones and worktrees, with a real runner, real git and a real store, while tasks work in them. */
import { expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DailyTidy } from "../../src/daemon/daily-tidy.ts";
import { RunFolders } from "../../src/daemon/run-folders.ts";
import { PERSON } from "../../src/engine/launch.ts";
import { Runner } from "../../src/engine/runner.ts";
import { scriptedHosts } from "../../src/hosts/scripted/scripted-hosts.ts";
import { systemClock } from "../../src/process/clock.ts";
import { sqliteStore } from "../../src/store/open.ts";
import { completed, create, resumed } from "../../src/testing/sample-task.ts";
import { makeTaskClone } from "../../src/worktree/clones/task-clone.ts";
import { makeTaskWorktree } from "../../src/worktree/tasks/task-worktree.ts";
import { makeRepo } from "../cli/cli-bed.ts";
import { temporaryFolders } from "../store/temporary-folder.ts";
import { sh } from "../worktree/git-bed.ts";

const temporaryFolder = temporaryFolders();
const DAY = 86_400_000;
const log = { info() {}, error() {} };

async function place() {
  const folder = temporaryFolder();
  const repo = makeRepo(join(folder, "shop"));
  const store = await sqliteStore({ directory: join(folder, "store") });
  const runner = new Runner({ store, log, makers: [scriptedHosts({ folder: join(folder, "sessions") })] });
  const stop = async () => {
    await runner.stop();
    await store.close();
  };
  return { folder, repo, store, runner, stop };
}

/** Clones that were made eight days ago. */
async function oldClones({ folder, repo }: { folder: string; repo: string }, ids: string[]): Promise<string[]> {
  const remote = join(folder, "shop.git");
  sh(repo, "clone", "--quiet", "--bare", repo, remote);
  const base = join(folder, "clones");
  const made: string[] = [];
  for (const id of ids) {
    const clone = {
      base,
      remote,
      commit: sh(repo, "rev-parse", "HEAD"),
      id: `${id}-0`,
      name: "x",
      path: "",
      known: [],
    };
    made.push((await makeTaskClone(clone)).directory);
  }
  const marks = join(base, "tasks", ".marks");
  for (const name of readdirSync(marks)) {
    const mark = JSON.parse(readFileSync(join(marks, name), "utf8"));
    const createdAt = new Date(Date.now() - 8 * DAY).toISOString();
    writeFileSync(join(marks, name), JSON.stringify({ ...mark, createdAt }));
  }
  return made;
}

test("a clone stays while another task than the one it was made for works in a folder of it", async () => {
  const { folder, repo, store, runner, stop } = await place();
  const [used = "", unused = ""] = await oldClones({ folder, repo }, ["tsk_1", "tsk_2"]);
  // Git does not see an empty folder.
  mkdirSync(join(used, "web"));
  const engine = await runner.open("scripted", join(used, "web"));
  const request = { description: "x", prompt: "!wait go", agent: engine.defaultAgent, batch: null, fork: false };
  const task = await engine.launch(PERSON, request, await engine.checkLaunch(PERSON, request));
  const tidied = Promise.withResolvers<void>();
  const info = (message: string) => message.startsWith("clones were removed") && tidied.resolve();
  const folders = new RunFolders({ store, log: { ...log, info }, directory: folder, machine: "", removal: runner });
  folders.start();
  await tidied.promise;
  await folders.stop();
  expect([existsSync(used), existsSync(unused)]).toEqual([true, false]);
  expect(await store.task(task.id)).toMatchObject({ status: "running" });
  await stop();
}, 30_000);

test("a runner that ends does not look at all its clones first", async () => {
  const { folder, repo, store, runner, stop } = await place();
  await oldClones({ folder, repo }, ["tsk_1", "tsk_2", "tsk_3"]);
  const looked: string[] = [];
  const begun = Promise.withResolvers<void>();
  const removing: Runner["removing"] = (path, options, work) => {
    looked.push(path);
    begun.resolve();
    return runner.removing(path, options, work);
  };
  const folders = new RunFolders({ store, log, directory: folder, machine: "", removal: { removing } });
  folders.start();
  await begun.promise;
  await folders.stop();
  expect(looked).toHaveLength(1);
  await stop();
}, 30_000);

test("the worktree of a task that is resumed while the daily tidying is under way stays", async () => {
  const { folder, repo, store, runner, stop } = await place();
  const worktrees = join(folder, "worktrees");
  const directories = new Map<string, string>();
  for (const id of ["tsk_a", "tsk_b"]) {
    const made = await makeTaskWorktree({ worktrees, id, name: "x", directory: repo, mayUse: async () => {} });
    directories.set(made.directory, id);
    await create(store, id, { directory: made.directory, sessionId: `ses_${id}` });
    await store.apply(id, completed(2_000));
  }
  const looked: string[] = [];
  const both = Promise.withResolvers<void>();
  // Each of them is looked at in turn: the second one is resumed while the first one is.
  const removing: Runner["removing"] = async (path, options, work) => {
    const other = [...directories].find(([each]) => each !== path);
    if (looked.push(path) === 1) await store.apply(other?.[1] ?? "", { ...resumed(3_000), owner: "instance" });
    await runner.removing(path, options, work).finally(() => looked.length === 2 && both.resolve());
    return undefined as never;
  };
  const begin = Promise.withResolvers<() => void>();
  const after = (_ms: number, work: () => void) => {
    begin.resolve(work);
    return () => {};
  };
  const clock = { ...systemClock, now: () => Date.now() + 2 * DAY };
  const tidy = new DailyTidy({ ...clock, after, log, worktrees, folders: { removing } });
  (await begin.promise)();
  await both.promise;
  await tidy.stop();
  const [first = "", second = ""] = looked;
  expect([existsSync(first), existsSync(second)]).toEqual([false, true]);
  await stop();
}, 30_000);
