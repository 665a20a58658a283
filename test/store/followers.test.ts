import { expect, onTestFinished, test } from "bun:test";
import { join } from "node:path";
import { kyselyFollowers } from "../../src/store/followers/kysely-followers.ts";
import { sqliteStore } from "../../src/store/open.ts";
import { sqliteDatabase } from "../../src/store/sqlite/sqlite-database.ts";
import { fillBoard, sampleAttempt } from "../../src/testing/sample-board.ts";
import { completed, create } from "../../src/testing/sample-task.ts";
import { temporaryFolders } from "./temporary-folder.ts";

const temporaryFolder = temporaryFolders();

test("a follower is told of an end before it, although its process died after its first write", async () => {
  const directory = temporaryFolder();
  const store = await sqliteStore({ directory });
  onTestFinished(() => store.close());
  await create(store, "a", { parentSessionId: "" });
  await store.apply("a", completed(2_000));
  const database = await sqliteDatabase({ file: join(directory, "asyncagents.db"), log: () => {} });
  onTestFinished(() => database.close());
  let writes = 0;
  const dying = kyselyFollowers({
    read: database.read,
    write: (work) => (writes++ === 0 ? database.write(work) : Promise.reject(new Error("died"))),
  });
  const follower = { handle: "a", client: "client:claude:s", way: "hook", callId: "toolu_1" } as const;
  await dying.add(follower, 3_000).catch(() => {});
  const claim = { messageId: "m", at: 10_000, graceMs: 1_000, sender: null };
  expect(await store.followers.claim(follower.client, claim)).toHaveLength(1);
});

test("nobody waits for an attempt that was removed before it had a task; one that had is still told", async () => {
  const store = await sqliteStore({ directory: temporaryFolder() });
  onTestFinished(() => store.close());
  const follower = { handle: "a", client: "client:claude:s", way: "hook", callId: null } as const;
  const removed = async () => {
    await store.followers.add(follower, 1_000);
    await store.board.removeAttempt("a");
    return (await store.followers.open(follower.client)).length;
  };
  await fillBoard(store);
  expect(await removed()).toBe(0);
  await store.board.addAttempt(sampleAttempt("a"), [{ repoId: "r", targetBranch: "main" }]);
  await create(store, "task", { parentSessionId: "", batchId: "a" });
  expect(await removed()).toBe(1);
});

test("a notice that a program does not come back for is given up, however many others wait longer", async () => {
  const directory = temporaryFolder();
  const store = await sqliteStore({ directory });
  onTestFinished(() => store.close());
  const database = await sqliteDatabase({ file: join(directory, "asyncagents.db"), log: () => {} });
  onTestFinished(() => database.close());
  const notice = {
    run: 0,
    kind: "ended",
    topic: "ended",
    parent_session_id: "ses_of_a_lost_machine",
    state: "pending",
  };
  const counts = { batch_ended: 1, batch_total: 1, batch_live: 0, attempts: 0, wake: "now", fence: 0 };
  const ofOthers = Array.from({ length: 1_000 }, (_, at) => ({
    ...notice,
    ...counts,
    task_id: `t${at}`,
    created_at: at,
  }));
  await database.write((kysely) => kysely.insertInto("notices").values(ofOthers).execute());
  await create(store, "a", { parentSessionId: "" });
  await store.followers.add({ handle: "a", client: "client:claude:s", way: "hook", callId: null }, 1_500);
  await store.apply("a", completed(2_000));
  const outcome = { reason: "nobody asked for it", at: 10_000 };
  expect(await store.followers.dropOld(5_000, outcome)).toBe(1);
  expect(await store.followers.dropOld(5_000, outcome)).toBe(0);
});
