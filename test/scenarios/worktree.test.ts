/** Tasks in worktrees of their own, in the real OpenCode: what they do stays there, is reported, and can be merged. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { call, gate, say } from "../../src/testing/models/script.ts";
import { makeRepo } from "../cli/cli-bed.ts";
import { World } from "./world.ts";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "asyncagents-worktree-")));
const repo = makeRepo(join(folder, "shop"));
const git = (...args: string[]) => execFileSync("git", ["-C", repo, ...args], { encoding: "utf8" }).trim();
const bash = (command: string) => call("bash", { command, description: "work" });
let world: World;

beforeAll(async () => {
  world = await World.start({ directory: repo });
}, 60_000);
afterAll(async () => {
  await world.stop();
  rmSync(folder, { recursive: true, force: true });
});

describe("a task with worktree: true", () => {
  test("works in its own checkout and branch, reports what it changed and how to merge it, and goes on there", async () => {
    const parent = await world.parent();
    const answer = await parent.ask("task", {
      description: "Change the readme",
      prompt: `${world.script(bash("echo two >> readme.txt && echo new > made.txt"), say("all changed"))} work`,
      agent: "general",
      worktree: true,
    });
    const [, id = ""] = /Task (ses_\w+) launched/.exec(answer) ?? [];
    const [, branch = ""] = /on branch (asyncagents\/[\w-]+)\./.exec(answer) ?? [];
    expect([id, branch]).not.toContain("");
    const task = await world.ended(id);
    expect([task.status, task.run.result]).toEqual(["completed", "all changed"]);
    expect(task.directory).toStartWith(join(world.storage, "worktrees", "tasks"));
    expect(readFileSync(join(task.directory, "readme.txt"), "utf8")).toBe("one\ntwo\n");
    expect(readFileSync(join(repo, "readme.txt"), "utf8")).toBe("one\n");
    expect(existsSync(join(repo, "made.txt"))).toBe(false);
    const { hidden } = await parent.notice("It changed 2 files");
    expect(hidden).toContain(
      `It changed 2 files (+2 −0) in its worktree ${task.directory}, on branch ${branch}: made.txt, readme.txt.`,
    );
    const [, command = ""] = /To merge it into main: (.*)\. It stays until it is merged\./.exec(hidden) ?? [];
    expect(await parent.ask("output", { task_id: id })).toContain(command);

    // The next run works in the same place.
    const more = world.script(bash("echo three >> readme.txt"), gate("resumed"), say("more changed"));
    await parent.ask("task", { prompt: `${more} more`, resume: id });
    const { owner } = await world.task(id);
    const { handler } = (await world.store.parent(parent.sessionId)) ?? {};
    const instances = await world.store.instances();
    const place = (instance: string | null | undefined) => instances.find((each) => each.id === instance)?.directory;
    // Each is served by the engine that hears what happens there.
    expect([place(owner), place(handler)]).toEqual([task.directory, repo]);
    world.model.gate("resumed").open();
    const resumed = await world.until(id, ({ run, status }) => run.number === 1 && status === "completed");
    expect([resumed.run.result, resumed.directory]).toEqual(["more changed", task.directory]);
    expect(readFileSync(join(task.directory, "readme.txt"), "utf8")).toBe("one\ntwo\nthree\n");

    execFileSync("sh", ["-c", command], { stdio: "pipe" });
    expect(readFileSync(join(repo, "readme.txt"), "utf8")).toBe("one\ntwo\nthree\n");
    expect(await parent.ask("output", { task_id: id })).toContain("All of it is in main.");
    await world.settled();
  }, 120_000);

  test("says which files another live task of the repository has changed, too", async () => {
    const parent = await world.parent();
    const [first] = await parent.launchAll([[bash("echo mine >> readme.txt"), gate("end"), say("first")]], {
      worktree: true,
    });
    const other = (await world.task(first ?? "")).directory;
    await world.until(first ?? "", ({ progress }) => progress.toolCalls > 0);
    await world.model.gate("end").reachedBy(1);
    expect(readFileSync(join(other, "readme.txt"), "utf8")).toContain("mine");
    const [second] = await parent.launchAll([[bash("echo ours >> readme.txt"), say("second")]], { worktree: true });
    await world.ended(second ?? "");
    const { hidden } = await parent.notice("Conflict ahead");
    expect(hidden).toContain(`Conflict ahead: readme.txt is also changed by task ${first}, which is still running.`);
    world.model.gate("end").open();
    await world.ended(first ?? "");
    await world.settled();
    expect(readFileSync(join(other, "readme.txt"), "utf8")).toContain("mine");
  }, 120_000);

  test("survives kill -9 of OpenCode with its work: it ends as interrupted, and its parent is told once what is there", async () => {
    const parent = await world.parent();
    const steps = [bash("echo half > half.txt"), gate("never"), say("not reached")];
    const id = await parent.launch(steps, { worktree: true });
    await world.model.gate("never").reached;
    await world.opencode.kill();
    await world.opencode.restart();
    await world.settled();
    const task = await world.task(id);
    expect([task.status, task.run.error?.split(":")[0]]).toEqual(["error", "interrupted"]);
    const notices = await parent.notices();
    expect(notices).toHaveLength(1);
    expect(notices[0]?.hidden).toContain(`It changed 1 file (+1 −0) in its worktree ${task.directory}`);
    expect(readFileSync(join(task.directory, "half.txt"), "utf8")).toBe("half\n");
  }, 120_000);

  test("begins in the subfolder of a linked worktree that OpenCode was opened in", async () => {
    const linked = join(folder, "linked");
    git("worktree", "add", "--quiet", "-b", "linked", linked);
    mkdirSync(join(linked, "src"));
    writeFileSync(join(linked, "src", "a.txt"), "a\n");
    execFileSync("git", ["-C", linked, "add", "."]);
    execFileSync("git", ["-C", linked, "commit", "--quiet", "--message", "source"]);
    const there = await World.start({ directory: join(linked, "src") });
    try {
      const parent = await there.parent();
      const id = await parent.launch([bash("cat a.txt > b.txt"), say("done")], { worktree: true });
      const task = await there.ended(id);
      expect([task.status, task.directory]).toEqual(["completed", expect.stringMatching(/\/linked\/src$/)]);
      expect(readFileSync(join(task.directory, "b.txt"), "utf8")).toBe("a\n");
      expect(existsSync(join(linked, "src", "b.txt"))).toBe(false);
      await there.settled();
    } finally {
      await there.stop();
    }
  }, 120_000);

  test("is refused with a fork, and outside of a repository, and nothing is left behind", async () => {
    const parent = await world.parent();
    const input = { description: "x", prompt: "y", agent: "general", worktree: true };
    expect(await parent.ask("task", { ...input, fork: true })).toContain("Error (modes_exclusive)");
    const plain = join(folder, "plain");
    mkdirSync(plain);
    writeFileSync(join(plain, "a.txt"), "a");
    const elsewhere = await World.start({ directory: plain });
    try {
      const lonely = await elsewhere.parent();
      const said = await lonely.ask("task", input);
      expect(said).toContain("Error (repo_invalid): A task can have a worktree only in a git repository.");
      expect((await elsewhere.store.tasks({})).total).toBe(0);
      // What a model can write where OpenCode was opened names any repository.
      writeFileSync(join(plain, ".git"), `gitdir: ${join(repo, ".git")}\n`);
      const before = git("for-each-ref");
      expect(await lonely.ask("task", input)).toContain("Error (not_allowed): The repository of");
      expect(git("for-each-ref")).toBe(before);
      expect(existsSync(join(elsewhere.storage, "worktrees", "tasks", ".marks"))).toBe(false);
    } finally {
      await elsewhere.stop();
    }
    expect(git("branch", "--list", "asyncagents/*").split("\n").length).toBeGreaterThan(0);
  }, 120_000);
});
