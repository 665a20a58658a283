import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { RunFolders } from "../../src/daemon/run-folders.ts";
import type { Runner } from "../../src/engine/runner.ts";
import { create } from "../../src/testing/sample-task.ts";
import { makeRepo } from "../cli/cli-bed.ts";
import { codeOf } from "../engine/engine-bed.ts";
import { faultyStore } from "../store/faulty-store.ts";
import { temporaryFolders } from "../store/temporary-folder.ts";
import { sh } from "../worktree/git-bed.ts";

const temporaryFolder = temporaryFolders();

test("a failed read of the board's repositories is not remembered: the next run gets its clone", async () => {
  const directory = temporaryFolder();
  const repo = makeRepo(join(directory, "shop"));
  const remote = join(directory, "shop.git");
  sh(repo, "clone", "--quiet", "--bare", repo, remote);
  const { store, faults } = await faultyStore(directory);
  const log = { info() {}, error() {} };
  const removing: Runner["removing"] = (_path, _options, work) => work(async () => {});
  const folders = new RunFolders({ store, log, directory, machine: "here", removal: { removing } });
  const source = { commit: sh(repo, "rev-parse", "HEAD").trim(), path: "", machine: "there", directory: "/elsewhere" };
  const needs = { host: "scripted", model: null, labels: [], machine: null, remote, source };
  const run = { ...needs, taskId: "tsk_1", priority: 0, retries: 0, bound: null, limits: {} };
  const claimed = { taskId: "tsk_1", fence: 1, task: await create(store, "tsk_1"), run };
  faults.areReadsFailing = true;
  expect(await codeOf(folders.folderOf(claimed))).toBe("store_unavailable");
  faults.areReadsFailing = false;
  const folder = await folders.folderOf(claimed);
  expect([existsSync(folder.directory), folder.clone?.remote]).toEqual([true, remote]);
  await folders.stop();
  await store.close();
});
