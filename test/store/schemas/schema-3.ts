/**
 * A store from before merges were stored: migrations 1 to 3, with an attempt; and what opening it should give.
 */
import { expect } from "bun:test";
import type { Kysely } from "kysely";
import type { Database } from "../../../src/store/database.ts";
import { migrate } from "../../../src/store/migrations/migrations.ts";
import type { Schema } from "../../../src/store/schema.ts";
import type { Store } from "../../../src/store/store.ts";

/** `third` is a new, empty database, and `open` opens the store on it. */
export async function expectMergesAdded(third: Database, open: () => Promise<Store>): Promise<void> {
  await makeSchema3(third);
  await third.close();
  const store = await open();
  expect((await store.board.attempt("a"))?.repos).toMatchObject([{ repoId: "r", path: "/w", mergedCommit: null }]);
  await store.board.mergeAttempt("a", { r: "abc" }, 9);
  expect(await store.board.attempt("a")).toMatchObject({ state: "merged", repos: [{ mergedCommit: "abc" }] });
  await store.close();
}

async function makeSchema3(database: Database): Promise<void> {
  await migrate(database, 3);
  // Alone, as whoever changes the tables: nobody could order the feed of that version.
  const work = async (kysely: Kysely<Schema>) => {
    const at = { created_at: 1, updated_at: 1 };
    await kysely
      .insertInto("projects")
      .values({ id: "p", name: "p", ...at })
      .execute();
    const repo = { id: "r", project_id: "p", name: "r", path: "/r", copy: "[]", setup: null, created_at: 1 };
    await kysely.insertInto("repos").values(repo).execute();
    const item = { id: "w", project_id: "p", title: "t", description: null, status: "inreview", ...at };
    await kysely.insertInto("work_items").values(item).execute();
    const attempt = { id: "a", work_item_id: "w", host: "scripted", variant: null, branch: "b", state: "ready" };
    await kysely
      .insertInto("attempts")
      .values({ ...attempt, error: null, folder: "/f", ...at })
      .execute();
    const worktree = { attempt_id: "a", position: 0, repo_id: "r", target_branch: "main", path: "/w" };
    await kysely
      .insertInto("attempt_repos")
      .values(worktree as never)
      .execute();
  };
  return database.write(work, { isAlone: true });
}
