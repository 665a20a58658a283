/** Repositories with a remote, and what is asked for to clone them. */
import { join } from "node:path";
import type { CloneRequest } from "../../src/worktree/clones/task-clone.ts";
import { commit, type gitBed, sh, write } from "./git-bed.ts";

/** A repository with a folder in it, whose remote is a bare repository beside it. */
export function published(bed: ReturnType<typeof gitBed>): { repo: string; remote: string; commit: string } {
  const repo = bed.repo("shop");
  write(repo, "web/page.txt", "page\n");
  const tip = commit(repo, "page");
  const remote = join(bed.folder(), "shop.git");
  sh(repo, "clone", "--quiet", "--bare", repo, remote);
  sh(repo, "remote", "add", "origin", remote);
  sh(repo, "fetch", "--quiet", "origin");
  return { repo, remote, commit: tip };
}

export function request(
  base: string,
  fields: Pick<CloneRequest, "remote" | "commit"> & Partial<CloneRequest>,
): CloneRequest {
  return { base, id: "tsk_1-0", name: "Fix the page", path: "", known: [], ...fields };
}
