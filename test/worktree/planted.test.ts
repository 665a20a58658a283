import { describe, expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { closeSync, constants, existsSync, mkdirSync, openSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { diffOf } from "../../src/worktree/diff.ts";
import { adminFolderOf } from "../../src/worktree/git/registered.ts";
import { merge } from "../../src/worktree/merge.ts";
import { checkRemoval, removeWorktrees } from "../../src/worktree/remove.ts";
import { worktreeStateOf } from "../../src/worktree/worktree-state.ts";
import { commit, gitBed, refusal, sh, write } from "./git-bed.ts";

const bed = gitBed();
const SOURCE = join(import.meta.dir, "../../src/worktree");

const pipes: string[] = [];

function pipe(file: string): void {
  rmSync(file, { force: true });
  execFileSync("mkfifo", [file]);
  pipes.push(file);
}

/** Unblocks a git process that waits for a writer, so that it ends. */
function release(file: string): void {
  if (existsSync(file)) closeSync(openSync(file, constants.O_RDWR | constants.O_NONBLOCK));
}

/** Files to plant in git's folder, and in its folder for the worktree. */
const PLANTED: Record<string, (gitDir: string, adminFolder: string) => void> = {
  "a lock that is a pipe": (gitDir) => pipe(join(gitDir, "asyncagents.lock")),
  "an endless lock file": (gitDir) => symlinkSync("/dev/zero", join(gitDir, "asyncagents.lock")),
  "an entry that is a pipe": (gitDir) => {
    mkdirSync(join(gitDir, "worktrees", "0"));
    pipe(join(gitDir, "worktrees", "0", "gitdir"));
  },
  "an index that is a pipe": (_, adminFolder) => pipe(join(adminFolder, "index")),
  "a mark that is a pipe": (_, adminFolder) => pipe(join(adminFolder, "asyncagents.json")),
  "a bisect that is a pipe": (gitDir) => pipe(join(gitDir, "BISECT_START")),
  "a reason that is a pipe": (_, adminFolder) => pipe(join(adminFolder, "locked")),
};

/** A separate process looks, merges and removes: in this one, a blocked read would hang the test. */
const PROGRAM = `
import { diffOf } from "${SOURCE}/diff.ts";
import { merge } from "${SOURCE}/merge.ts";
import { removeWorktrees } from "${SOURCE}/remove.ts";
let latest = performance.now();
let longest = 0;
setInterval(() => {
  longest = Math.max(longest, performance.now() - latest);
  latest = performance.now();
}, 20);
const work = JSON.parse(process.argv.at(-1) ?? "").map(async ({ path, base, attemptId }) => {
  await diffOf(path, { maxBytes: 1000 }).catch(() => undefined);
  await merge(path, { message: "work", commit: true }).catch(() => undefined);
  await removeWorktrees({ base, attemptId, force: true }).catch(() => undefined);
});
// Git itself waits for a pipe, too, and is stopped after its time limit; that blocks nothing else.
await Promise.race([Promise.all(work), Bun.sleep(3_000)]);
console.log(longest < 5_000 ? "free" : longest);
process.exit();
`;

describe("planted content in git's folder", () => {
  test("blocks nothing: pipes and devices are not read", async () => {
    const places: object[] = [];
    for (const plant of Object.values(PLANTED)) {
      const repo = bed.repo();
      const { path, attemptId } = await bed.attempt(repo);
      write(path, "a.txt", "changed\n");
      // main is not checked out, so that unfinished work on it is looked for.
      sh(repo, "checkout", "--quiet", "-b", "other");
      const gitDir = join(repo, ".git");
      plant(gitDir, adminFolderOf(gitDir, path) ?? "");
      places.push({ path, attemptId, base: join(path, "../..") });
    }
    const child = Bun.spawn([process.execPath, "-e", PROGRAM, JSON.stringify(places)], {
      stdout: "pipe",
      stderr: "inherit",
      timeout: 30_000,
      killSignal: "SIGKILL",
    });
    const said = await new Response(child.stdout).text();
    for (const file of pipes) release(file);
    expect(said).toBe("free\n");
  }, 60_000);

  test("does not hide from a person what would be merged", async () => {
    const { path, baseCommit } = await bed.attempt(bed.repo());
    write(path, "hidden.txt", "hidden\n");
    commit(path, "hidden");
    sh(path, "replace", sh(path, "rev-parse", "HEAD^{tree}"), `${baseCommit}^{tree}`);
    expect((await diffOf(path, { maxBytes: 1_000 })).text).toContain("+hidden");
  });

  test("does not allow names that some disks treat as .git", async () => {
    const repo = bed.repo();
    sh(repo, "config", "core.protectNTFS", "false");
    write(repo, "git~1", "gitdir: elsewhere\n");
    commit(repo, "planted");
    const { code, message } = await refusal(bed.attempt(repo));
    expect({ code, message }).toEqual({ code: "git_failed", message: expect.stringContaining("invalid path 'git~1'") });
  });

  test("does not lead our own files elsewhere", async () => {
    const repo = bed.repo();
    const { path, attemptId } = await bed.attempt(repo);
    const folder = adminFolderOf(join(repo, ".git"), path) ?? "";
    const created = join(bed.folder(), "created");
    // The names that our temporary files had: a process's id, and a number.
    for (let count = 1; count < 400; count++) {
      symlinkSync(created, join(folder, `asyncagents.json.${process.pid}.${count}.tmp`));
    }
    await removeWorktrees({ base: join(path, "../.."), attemptId });
    expect(existsSync(created)).toBe(false);
  });

  test("does not make unmerged commits look merged", async () => {
    const repo = bed.repo();
    const { path, attemptId } = await bed.attempt(repo);
    write(path, "work.txt", "work\n");
    commit(path, "work");
    write(repo, "b.txt", "b\n");
    commit(repo, "main moves on");
    const [main, head] = [sh(repo, "rev-parse", "main"), sh(path, "rev-parse", "HEAD")];
    writeFileSync(join(repo, ".git", "info", "grafts"), `${main} ${head}\n`);
    expect(await worktreeStateOf(path)).toMatchObject({ merged: false, aheadOfTarget: 1 });
    expect((await refusal(checkRemoval({ base: join(path, "../.."), attemptId }))).code).toBe("worktree_unmerged");
    expect(await merge(path, { message: "work" })).toMatchObject({ changed: true });
  });
});
