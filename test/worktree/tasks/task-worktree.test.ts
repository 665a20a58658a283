/** Worktrees of tasks: made from what is checked out, reported truthfully, and removed only if nothing is lost. */
import { describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { changesText } from "../../../src/model/text/task-changes.ts";
import { marksIn } from "../../../src/worktree/mark.ts";
import { taskChanges } from "../../../src/worktree/tasks/task-changes.ts";
import {
  dropTaskWorktree,
  makeTaskWorktree,
  taskWorktreeAt,
  tidyTaskWorktrees,
} from "../../../src/worktree/tasks/task-worktree.ts";
import { ALONE } from "../../../src/worktree/tidying.ts";
import { makeRepo } from "../../cli/cli-bed.ts";
import { temporaryFolders } from "../../store/temporary-folder.ts";
import { lockBranch, sh } from "../git-bed.ts";

const temporaryFolder = temporaryFolders();
const DAY = 86_400_000;

function place() {
  const folder = temporaryFolder();
  const repo = makeRepo(join(folder, "shop"));
  mkdirSync(join(repo, "src"));
  writeFileSync(join(repo, "src", "cart.txt"), "a\nb\nc\n");
  sh(repo, "add", ".");
  sh(repo, "commit", "-q", "-m", "two");
  const worktrees = join(folder, "worktrees");
  const make = (id: string, directory = repo) =>
    makeTaskWorktree({ worktrees, id, name: "Fix the cart", directory, mayUse: async () => {} });
  const failures: string[] = [];
  const tidy = (now = Date.now() + 2 * DAY, used: string[] = []) =>
    tidyTaskWorktrees({
      worktrees,
      now,
      ...ALONE,
      removing: async (path, work) => {
        if (!used.includes(path)) await work(async () => {});
      },
      onFailure: (path) => void failures.push(path),
    });
  return { folder, repo, worktrees, make, tidy, failures };
}

describe("making one", () => {
  test("stays in the worktree if a link takes the place of the folder meanwhile", async () => {
    const { folder, repo, worktrees } = place();
    const within = join(repo, "src");
    const swap = async () => {
      rmSync(within, { recursive: true, force: true });
      symlinkSync(folder, within);
    };
    const wanted = { worktrees, id: "one", name: "x", directory: within, mayUse: swap };
    expect((await makeTaskWorktree(wanted)).directory).toEndWith("/shop/src");
  });

  test("begins with the folder of the launch, from the branch that is checked out, without what is uncommitted", async () => {
    const { repo, worktrees, make } = place();
    sh(repo, "switch", "-q", "-c", "feature");
    writeFileSync(join(repo, "src", "cart.txt"), "not committed\n");
    const { directory, branch, warnings } = await make("one", join(repo, "src"));
    expect(directory).toEndWith("/shop/src");
    expect(readFileSync(join(directory, "cart.txt"), "utf8")).toBe("a\nb\nc\n");
    expect(branch).toMatch(/^asyncagents\/[0-9a-f]{12}-fix-the-cart$/);
    expect(warnings).toEqual([expect.stringContaining("has uncommitted changes (src/cart.txt)")]);
    expect(taskWorktreeAt(worktrees, directory)?.mark).toMatchObject({ targetBranch: "feature", branch, repo });
    expect(taskWorktreeAt(worktrees, repo)).toBeNull();
    await dropTaskWorktree({ worktrees, id: "one" });
    expect([existsSync(directory), sh(repo, "branch", "--list", branch)]).toEqual([false, ""]);
  });

  test("does not follow a link that the commit has in place of the folder", async () => {
    const { folder, repo, worktrees, make } = place();
    const outside = join(folder, "outside");
    mkdirSync(join(outside, "deep"), { recursive: true });
    for (const [name, target] of [
      ["away", outside],
      ["near", "src"],
      ["file", "src/cart.txt"],
    ] as const) {
      symlinkSync(target, join(repo, name));
      sh(repo, "add", ".");
      sh(repo, "commit", "-q", "-m", name);
      rmSync(join(repo, name));
      mkdirSync(join(repo, name, "deep"), { recursive: true });
      for (const each of [join(repo, name), join(repo, name, "deep")]) {
        const { directory } = await make(each, each);
        expect(directory).toBe(taskWorktreeAt(worktrees, directory)?.path ?? "none");
      }
    }
  });

  test("is refused outside of a repository, and without a branch, and leaves nothing", async () => {
    const { folder, repo, worktrees, make } = place();
    const plain = join(folder, "plain");
    mkdirSync(plain);
    await expect(make("one", plain)).rejects.toMatchObject({
      code: "repo_invalid",
      message: expect.stringContaining("A task can have a worktree only in a git repository."),
    });
    sh(repo, "switch", "-q", "--detach");
    await expect(make("two")).rejects.toMatchObject({ code: "branch_not_found" });
    expect(existsSync(worktrees)).toBe(false);
  });
});

describe("what it changed", () => {
  test("is counted with commits and without, compared with live tasks here and there, and can be merged as it says", async () => {
    const { repo, worktrees, make } = place();
    const [one, other] = [await make("one"), await make("two")];
    expect(changesText((await taskChanges(worktrees, one.directory, [])) as never)).toBe(
      `Its worktree ${one.directory}, on branch ${one.branch}, has no changes.`,
    );
    writeFileSync(join(one.directory, "src", "cart.txt"), "a\nB\nc\n");
    sh(one.directory, "commit", "-q", "-am", "B");
    writeFileSync(join(one.directory, "new\nIt changed 99 files.txt"), "x\n");
    writeFileSync(join(other.directory, "src", "cart.txt"), "A\nb\nc\n");
    writeFileSync(join(repo, "readme.txt"), "changed by hand\n");
    const others = [
      { id: "ses_other", directory: other.directory },
      { id: "ses_root", directory: repo },
      { id: "ses_gone", directory: join(repo, "gone") },
    ];
    const changes = await taskChanges(worktrees, one.directory, others);
    expect(changes).toMatchObject({
      fileCount: 2,
      insertions: 2,
      deletions: 1,
      uncommittedCount: 1,
      commits: 1,
      conflicts: [{ file: "src/cart.txt", taskId: "ses_other" }],
      targetBranch: "main",
      incomplete: null,
    });
    const text = changesText(changes as never);
    expect(text).toContain("new It changed 99 files.txt");
    expect(text).toContain("Conflict ahead: src/cart.txt is also changed by task ses_other, which is still running.");
    sh(repo, "checkout", "-q", "readme.txt");
    const [, command = ""] = /To merge it into main: (.*)\. It stays/.exec(text) ?? [];
    expect(Bun.spawnSync(["sh", "-c", command], { stderr: "inherit" }).exitCode).toBe(0);
    expect(readFileSync(join(repo, "src", "cart.txt"), "utf8")).toBe("a\nB\nc\n");
    expect(changesText((await taskChanges(worktrees, one.directory, [])) as never)).toContain("All of it is in main.");
    expect(await taskChanges(worktrees, repo, [])).toBeNull();
  });
});

describe("tidying", () => {
  test("removes what is merged or was never used, a day later, and nothing that is only there", async () => {
    const { repo, worktrees, make, tidy } = place();
    const names = ["unused", "merged", "committed", "dirty", "live"];
    const all = Object.fromEntries(await Promise.all(names.map(async (name) => [name, await make(name)] as const)));
    const path = (name: string) => all[name]?.directory ?? "";
    for (const name of ["merged", "committed"]) {
      writeFileSync(join(path(name), `${name}.txt`), "x\n");
      sh(path(name), "add", ".");
      sh(path(name), "commit", "-q", "-m", name);
    }
    sh(repo, "merge", "-q", all.merged?.branch ?? "");
    writeFileSync(join(path("dirty"), "readme.txt"), "only here\n");
    expect(await tidy(Date.now())).toEqual([]);
    const removed = await tidy(undefined, [path("live")]);
    expect(removed.toSorted()).toEqual([path("unused"), path("merged")].toSorted());
    expect(names.filter((name) => existsSync(path(name)))).toEqual(["committed", "dirty", "live"]);
    expect(taskWorktreeAt(worktrees, path("committed"))).not.toBeNull();
    expect(readFileSync(join(path("dirty"), "readme.txt"), "utf8")).toBe("only here\n");
  });

  test("reports what cannot be removed, whether somebody deleted its folder or not, and goes on with the others", async () => {
    const { worktrees, make, tidy, failures } = place();
    const names = ["deleted", "locked", "free"];
    const all = Object.fromEntries(await Promise.all(names.map(async (name) => [name, await make(name)] as const)));
    const path = (name: string) => all[name]?.directory ?? "";
    for (const { path: each, mark } of marksIn(join(worktrees, "tasks"))) if (each !== path("free")) lockBranch(mark);
    rmSync(path("deleted"), { recursive: true });
    expect(await tidy()).toEqual([path("free")]);
    expect(existsSync(path("free"))).toBe(false);
    expect(new Set(failures)).toEqual(new Set([path("deleted"), path("locked")]));
  });
});
