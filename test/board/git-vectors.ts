/**
 * Known ways to make git run a program by writing files, in a repository's folder or in a worktree. Each leaves a
 * canary when its program has run, and describes how plain git, run by a person, triggers it.
 */
import { chmodSync, existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { commit, sh, tenLines, write } from "../worktree/git-bed.ts";

export interface Stage {
  repo: string;
  worktree: string;
  /** A folder for programs and canaries, outside both. */
  folder: string;
}

export interface Vector {
  name: string;
  /** The submodule it tampers with. */
  submodule?: string;
  /** `program` returns the path of a program that leaves the canary. */
  plant(stage: Stage, program: (rest?: string) => string): void;
  /** The plain git command that triggers it. It may fail. */
  fire(stage: Stage): void;
}

export function canaryOf({ folder }: Pick<Stage, "folder">, { name }: Vector): string {
  return join(folder, `canary ${name}`);
}

export function plant(stage: Stage, vector: Vector): void {
  const canary = canaryOf(stage, vector);
  const file = join(stage.folder, `program-${vector.name.replaceAll(/\W+/g, "-")}`);
  vector.plant(stage, (rest = "exit 1") => {
    writeFileSync(file, `#!/bin/sh\ntouch '${canary}'\n${rest}\n`);
    chmodSync(file, 0o755);
    return file;
  });
}

export function hasFired(stage: Stage, vector: Vector): boolean {
  return existsSync(canaryOf(stage, vector));
}

const config = (folder: string, key: string, value: string) => sh(folder, "config", key, value);
const status = ({ worktree }: Stage) => sh(worktree, "status");
const addWorktree = ({ repo, folder }: Stage) => sh(repo, "worktree", "add", "--detach", join(folder, "further"));

function attribute({ repo }: Stage, line: string): void {
  const file = join(repo, ".git/info/attributes");
  mkdirSync(join(file, ".."), { recursive: true });
  writeFileSync(file, `${line}\n`, { flag: "a" });
}

function hook(folder: string, name: string, program: string): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, name), `#!/bin/sh\nexec '${program}'\n`, { mode: 0o755 });
}

/** A promisor remote: git fetches missing objects from it on demand. */
function promise(repo: string, remote: string, url: string): void {
  config(repo, "core.repositoryformatversion", "1");
  config(repo, "extensions.partialClone", remote);
  config(repo, `remote.${remote}.promisor`, "true");
  config(repo, `remote.${remote}.url`, url);
  config(repo, `remote.${remote}.fetch`, "+refs/heads/*:refs/remotes/x/*");
}

function loseFirstVersion(repo: string): void {
  const blob = sh(repo, "rev-parse", "HEAD:a.txt");
  rmSync(join(repo, ".git/objects", blob.slice(0, 2), blob.slice(2)), { force: true });
}

const fetchMissing = ({ repo }: Stage) => sh(repo, "show", "HEAD:a.txt");

export const CONFIG: Vector[] = [
  {
    name: "a hook in the repository",
    plant: ({ repo }, program) => hook(join(repo, ".git/hooks"), "reference-transaction", program("exit 0")),
    fire: ({ repo }) => sh(repo, "update-ref", "refs/heads/further", "HEAD"),
  },
  {
    name: "core.fsmonitor",
    plant: ({ repo }, program) => config(repo, "core.fsmonitor", program()),
    fire: status,
  },
  {
    name: "diff.external",
    plant: ({ repo }, program) => config(repo, "diff.external", program("exit 0")),
    fire: ({ worktree }) => sh(worktree, "diff"),
  },
  {
    name: "diff driver, command",
    plant(stage, program) {
      attribute(stage, "*.cmd diff=commanded");
      config(stage.repo, "diff.commanded.command", program("exit 0"));
    },
    fire: ({ worktree }) => sh(worktree, "diff", "HEAD"),
  },
  {
    name: "diff driver, textconv",
    plant(stage, program) {
      attribute(stage, "*.conv diff=converted");
      config(stage.repo, "diff.converted.textconv", program('exec cat "$1"'));
    },
    fire: ({ worktree }) => sh(worktree, "diff", "HEAD"),
  },
  {
    name: "merge driver",
    plant(stage, program) {
      attribute(stage, "a.txt merge=driven");
      config(stage.repo, "merge.driven.driver", `${program("exit 0")} %O %A %B`);
    },
    fire({ repo, worktree }) {
      commit(worktree, "theirs");
      sh(repo, "merge-tree", "--write-tree", "main", sh(worktree, "rev-parse", "HEAD"));
    },
  },
  {
    name: "gpg.program",
    plant({ repo }, program) {
      config(repo, "commit.gpgSign", "true");
      config(repo, "gpg.program", program());
    },
    fire: ({ repo }) => sh(repo, "commit", "--allow-empty", "-m", "signed"),
  },
  {
    name: "core.editor",
    plant: ({ repo }, program) => config(repo, "core.editor", program()),
    fire: ({ repo }) => sh(repo, "commit", "--allow-empty"),
  },
];

export const INCLUDED: Vector[] = [
  {
    name: "core.hooksPath",
    plant({ repo, folder }, program) {
      hook(join(folder, "hooks"), "post-checkout", program());
      config(repo, "core.hooksPath", join(folder, "hooks"));
    },
    fire: addWorktree,
  },
  {
    name: "include.path",
    plant({ repo, folder }, program) {
      writeFileSync(join(folder, "included"), `[core]\n\tfsmonitor = ${program()}\n`);
      config(repo, "include.path", join(folder, "included"));
    },
    fire: status,
  },
  {
    name: "includeIf",
    plant({ repo, folder }, program) {
      writeFileSync(join(folder, "included-if"), `[diff]\n\texternal = ${program("exit 0")}\n`);
      config(repo, "includeIf.gitdir:/.path", join(folder, "included-if"));
    },
    fire: ({ worktree }) => sh(worktree, "diff"),
  },
  {
    name: "config of the worktree",
    plant({ repo, worktree }, program) {
      config(repo, "extensions.worktreeConfig", "true");
      sh(worktree, "config", "--worktree", "core.fsmonitor", program());
    },
    fire: status,
  },
];

export const FILTERS: Vector[] = [
  {
    name: "filter, smudge",
    plant(stage, program) {
      attribute(stage, "*.txt filter=smudged");
      config(stage.repo, "filter.smudged.smudge", program("exec cat"));
    },
    fire: addWorktree,
  },
  {
    name: "filter, clean",
    plant(stage, program) {
      attribute(stage, "*.cmd filter=cleaned");
      config(stage.repo, "filter.cleaned.clean", program("exec cat"));
    },
    fire: ({ worktree }) => sh(worktree, "add", "--all"),
  },
  {
    name: "filter, process",
    plant(stage, program) {
      attribute(stage, "*.conv filter=processed");
      config(stage.repo, "filter.processed.process", program());
    },
    fire: ({ worktree }) => sh(worktree, "add", "--all"),
  },
];

export const PROMISES: Vector[] = [
  {
    name: "promisor, core.sshCommand",
    plant({ repo }, program) {
      loseFirstVersion(repo);
      promise(repo, "p-ssh", "ssh://localhost/x");
      config(repo, "core.sshCommand", program());
    },
    fire: fetchMissing,
  },
  {
    name: "promisor, ext",
    plant({ repo }, program) {
      loseFirstVersion(repo);
      promise(repo, "p-ext", `ext::${program()}`);
      config(repo, "protocol.ext.allow", "always");
    },
    fire: fetchMissing,
  },
  {
    name: "promisor, url.insteadOf",
    plant({ repo }, program) {
      loseFirstVersion(repo);
      promise(repo, "p-url", "https://localhost:1/harmless");
      config(repo, `url.ext::${program()} .insteadOf`, "https://localhost:1/");
      config(repo, "protocol.ext.allow", "always");
    },
    fire: fetchMissing,
  },
  {
    name: "promisor, core.gitProxy",
    plant({ repo }, program) {
      loseFirstVersion(repo);
      promise(repo, "p-git", "git://localhost/x");
      config(repo, "core.gitProxy", program());
    },
    fire: fetchMissing,
  },
  {
    name: "promisor, uploadpack",
    plant({ repo, folder }, program) {
      loseFirstVersion(repo);
      promise(repo, "p-file", join(folder, "origin"));
      sh(folder, "init", "--quiet", "--bare", "origin");
      config(repo, "remote.p-file.uploadpack", program());
    },
    fire: fetchMissing,
  },
];

export const NESTED: Vector[] = [
  {
    name: "submodule, core.fsmonitor",
    submodule: "sub-monitor",
    plant: ({ worktree }, program) => config(join(worktree, "sub-monitor"), "core.fsmonitor", program()),
    fire: status,
  },
  {
    name: "submodule, filter",
    submodule: "sub-filter",
    plant({ worktree }, program) {
      const sub = join(worktree, "sub-filter");
      write(sub, ".gitattributes", "* filter=nested\n");
      write(sub, "a.txt", tenLines({ 1: "LINE 1" }));
      config(sub, "filter.nested.clean", program("exec cat"));
    },
    fire: status,
  },
  {
    name: "submodule, promisor",
    submodule: "sub-promisor",
    plant({ worktree }, program) {
      const sub = join(worktree, "sub-promisor");
      const gitDir = sh(sub, "rev-parse", "--absolute-git-dir");
      rmSync(join(gitDir, "objects"), { recursive: true });
      mkdirSync(join(gitDir, "objects"));
      promise(sub, "origin", "ssh://localhost/x");
      config(sub, "core.sshCommand", program());
    },
    fire: status,
  },
  {
    name: "submodule, text-only .git",
    submodule: "sub-gitfile",
    plant({ worktree }, program) {
      const sub = join(worktree, "sub-gitfile");
      const head = sh(sub, "rev-parse", "HEAD");
      writeTextRepo(join(sub, "made-up"), head, `[core]\n\tfsmonitor = ${program()}\n`);
      writeFileSync(join(sub, ".git"), "gitdir: made-up\n");
    },
    fire: status,
  },
];

export const PLANTED: Vector[] = [
  {
    name: "a bare repository among the files",
    plant({ worktree, repo }, program) {
      const head = sh(repo, "rev-parse", "HEAD");
      const settings = `[core]\n\tworktree = files\n\tfsmonitor = ${program()}\n`;
      writeTextRepo(join(worktree, "bare"), head, settings);
      write(worktree, "bare/files/keep", "");
    },
    fire: ({ worktree }) => sh(join(worktree, "bare"), "status"),
  },
  {
    name: "the .git file of the worktree",
    plant({ worktree, repo }, program) {
      const head = sh(repo, "rev-parse", "HEAD");
      writeTextRepo(join(worktree, "made-up"), head, `[core]\n\tfsmonitor = ${program()}\n`);
      write(worktree, "made-up/objects/info/alternates", `${join(repo, ".git/objects")}\n`);
      writeFileSync(join(worktree, ".git"), "gitdir: made-up\n");
    },
    fire: status,
  },
];

/** Everything a tool that writes text files can create: none of it is executable. */
function writeTextRepo(gitDir: string, head: string, settings: string): void {
  write(gitDir, "HEAD", `${head}\n`);
  write(gitDir, "objects/keep", "");
  write(gitDir, "refs/keep", "");
  write(gitDir, "config", `[core]\n\trepositoryformatversion = 0\n${settings}`);
}
