/**
 * The hooks that a person would expect to run at a commit or a merge. They are named, never run: agents can write to
 * their folder.
 */
import { statSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { askGit, type GitLocation } from "./git.ts";
import { standIn } from "./stand-in.ts";

const HOOKS = [
  "pre-commit",
  "prepare-commit-msg",
  "commit-msg",
  "post-commit",
  "pre-merge-commit",
  "post-merge",
  "reference-transaction",
];

/** The names of existing hooks that git would run for a person. */
export async function hooksOf(place: GitLocation): Promise<string[]> {
  const folder = await hooksFolder(place);
  return HOOKS.filter((name) => {
    const found = statSync(join(folder, name), { throwIfNoEntry: false });
    return found?.isFile() && (found.mode & 0o111) !== 0;
  });
}

async function hooksFolder(place: GitLocation): Promise<string> {
  const { config } = await standIn(place);
  const local = config.findLast(({ name }) => name === "core.hookspath")?.value;
  const named = local ?? (await ownHooksPath());
  if (!named) return join(place.commonDir, "hooks");
  const path = named.startsWith("~/") ? join(process.env.HOME || homedir(), named.slice(2)) : named;
  return resolve(place.workTree ?? place.commonDir, path);
}

async function ownHooksPath(): Promise<string | null> {
  const answer = await askGit("/", ["config", "--global", "--includes", "--get", "core.hooksPath"]);
  return answer.code === 0 ? answer.stdout.toString("utf8").trim() : null;
}
