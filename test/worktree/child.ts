/**
 * A separate process that creates attempts and merges the work of each: `child.ts <repo> <base> <id…>`. SETUP is the
 * setup script.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeWorktrees } from "../../src/worktree/make.ts";
import { merge } from "../../src/worktree/merge.ts";

const [repo = "", base = "", ...ids] = process.argv.slice(2);
const setup = process.env.SETUP ?? "";

await Promise.all(
  ids.map(async (attemptId) => {
    const repos = [{ path: repo, targetBranch: "main", setup }];
    for (const { path } of await makeWorktrees({ attemptId, base, name: attemptId, repos })) {
      writeFileSync(join(path, attemptId), attemptId);
      await merge(path, { message: attemptId, commit: true });
    }
  }),
);
