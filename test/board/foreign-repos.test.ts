/**
 * A model that can write files in a folder that a person knows gets no repository from elsewhere by referring to it:
 * neither when it adds one, nor when it starts an attempt in one that was replaced, nor as a worktree for a task.
 */
import { expect, test } from "bun:test";
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import type { CallOrigin } from "../../src/protocol/call-origin.ts";
import { commit, refusal, sh, traceOf, write } from "../worktree/git-bed.ts";
import { boardBed, projectOn } from "./board-bed.ts";

const bed = boardBed();
const side = await bed.side(undefined, { scriptedForModels: true });
const { call } = side;
const origin: CallOrigin = { door: "model", depth: 0 };

/** How a folder can refer to a repository whose git folder is `gitDir`. */
const REFERENCES: Record<string, (folder: string, gitDir: string) => void> = {
  "a .git file": (folder, gitDir) => write(folder, ".git", `gitdir: ${gitDir}\n`),
  "a link": (folder, gitDir) => symlinkSync(gitDir, join(folder, ".git")),
  "a common folder": (folder, gitDir) => {
    const own = join(folder, ".git");
    write(own, "HEAD", "ref: refs/heads/main\n");
    write(own, "commondir", `${gitDir}\n`);
    write(own, "gitdir", `${own}\n`);
    cpSync(join(gitDir, "index"), join(own, "index"));
  },
  "links in a folder beside it that names it": (folder, gitDir) => {
    const own = `${folder}-git`;
    rmSync(own, { recursive: true, force: true });
    mkdirSync(own);
    for (const name of ["objects", "refs"]) symlinkSync(join(gitDir, name), join(own, name));
    for (const name of ["HEAD", "index"]) cpSync(join(gitDir, name), join(own, name));
    write(own, "config", `[core]\n\trepositoryformatversion = 0\n\tworktree = ${folder}\n`);
    write(folder, ".git", `gitdir: ${own}\n`);
  },
  alternates: (folder, gitDir) => {
    const own = join(folder, ".git");
    mkdirSync(join(own, "objects", "info"), { recursive: true });
    // Through objects of its own, which name the others.
    const between = `${folder}-objects`;
    write(between, "info/alternates", `${join(gitDir, "objects")}\n`);
    write(own, "objects/info/alternates", `# of git\n\n${between}\n`);
    for (const name of ["HEAD", "config", "index", "refs"])
      cpSync(join(gitDir, name), join(own, name), { recursive: true });
  },
  "links among its objects": (folder, gitDir) => {
    const own = join(folder, ".git");
    mkdirSync(join(own, "objects"), { recursive: true });
    for (const name of readdirSync(join(gitDir, "objects"))) {
      symlinkSync(join(gitDir, "objects", name), join(own, "objects", name));
    }
    for (const name of ["HEAD", "config", "index", "refs"])
      cpSync(join(gitDir, name), join(own, name), { recursive: true });
  },
  "links in git's folder": (folder, gitDir) => {
    const own = join(folder, ".git");
    mkdirSync(own);
    for (const name of ["objects", "refs"]) symlinkSync(join(gitDir, name), join(own, name));
    for (const name of ["HEAD", "config", "index"]) cpSync(join(gitDir, name), join(own, name));
  },
};

for (const [kind, refer] of Object.entries(REFERENCES)) {
  test(`not with ${kind}`, async () => {
    const other = bed.git.repo("other");
    const before = traceOf(other);
    const { project_id, paths } = await projectOn(side, bed.git);
    const path = join(paths[0] ?? "", "inside");
    mkdirSync(path);
    refer(path, join(other, ".git"));
    const refused = await refusal(call("add_repo", { project_id, path }, { origin }));
    expect(refused).toMatchObject({ code: "approval_needed", message: expect.stringContaining(other) });
    expect((await refusal(call("add_project", { name: kind, repos: [path] }, { origin }))).code).toBe(
      "approval_needed",
    );
    // Replaced after it was added.
    rmSync(path, { recursive: true });
    cpSync(bed.git.repo(), path, { recursive: true });
    const { repo_id } = await call("add_repo", { project_id, path }, { origin });
    const { task_id } = await call("create_task", { project_id, title: "Try", description: "!say ok" });
    const start = { task_id, executor: "SCRIPTED", repos: [{ repo_id, target_branch: "main" }] };
    await call("start_task_attempt", start, { origin });
    rmSync(join(path, ".git"), { recursive: true });
    refer(path, join(other, ".git"));
    expect((await refusal(call("start_task_attempt", start, { origin }))).code).toBe("approval_needed");
    const launch = { prompt: "!say ok", executor: "SCRIPTED", directory: path, worktree: true };
    expect((await refusal(call("launch_task", launch, { origin }))).code).toBe("approval_needed");
    expect(existsSync(join(side.worktrees, "tasks"))).toBe(false);
    expect(traceOf(other)).toEqual(before);
    // A person may use what is theirs.
    await call("add_repo", { project_id, path, name: "theirs" });
  });
}

test("not with a .git that is replaced after it was looked at", async () => {
  const other = bed.git.repo("other");
  const before = traceOf(other);
  const late = await bed.side(undefined, {
    scriptedForModels: true,
    // Asked for between the look at the repositories and the worktrees.
    newId: () => {
      swap();
      return crypto.randomUUID();
    },
  });
  let swap = () => {};
  const { repos, paths, project_id } = await projectOn(late, bed.git);
  const { task_id } = await late.call("create_task", { project_id, title: "Try", description: "!say ok" });
  swap = () => {
    const [path = ""] = paths;
    rmSync(join(path, ".git"), { recursive: true, force: true });
    REFERENCES["a .git file"]?.(path, join(other, ".git"));
  };
  const start = late.call("start_task_attempt", { task_id, executor: "SCRIPTED", repos }, { origin });
  expect(await refusal(start)).toMatchObject({
    code: "approval_needed",
    message: expect.stringContaining(join(other, ".git")),
  });
  expect(traceOf(other)).toEqual(before);
});

test("a linked worktree and a submodule that a person made there can be used", async () => {
  const other = bed.git.repo("other");
  const { project_id, paths } = await projectOn(side, bed.git);
  const [top = ""] = paths;
  sh(other, "worktree", "add", "--quiet", "-b", "side", join(top, "linked"));
  sh(top, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", other, "lib");
  commit(top, "with a submodule");
  for (const name of ["linked", "lib"]) {
    await call("add_repo", { project_id, path: join(top, name) }, { origin });
    const launch = { prompt: "!say ok", executor: "SCRIPTED", directory: join(top, name), worktree: true };
    expect((await call("launch_task", launch, { origin })).worktree?.branch).toStartWith("asyncagents/");
  }
  const lib = bed.git.folder();
  sh(top, "-c", "protocol.file.allow=always", "clone", "--quiet", "--recurse-submodules", top, join(lib, "clone"));
  await call("allow_directory", { directory: join(lib, "clone", "lib") });
  await call("add_repo", { project_id, path: join(lib, "clone", "lib"), name: "only" }, { origin });
});
