/** A process of its own that makes attempts, and merges what each of them did: `child.ts <repo> <base> <id…>`. A setup script comes by SETUP. */
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
