import { expect, onTestFinished, test } from "bun:test";
import { existsSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Database } from "../../../src/store/database.ts";
import { kyselyStore } from "../../../src/store/kysely-store.ts";
import { migrate } from "../../../src/store/migrations/migrations.ts";
import { sqliteStore } from "../../../src/store/open.ts";
import { sqliteDatabase } from "../../../src/store/sqlite/sqlite-database.ts";
import { tasksJsonMirror } from "../../../src/store/tasks-json/mirror.ts";
import { completed, create } from "../../../src/testing/sample-task.ts";
import { temporaryFolders } from "../temporary-folder.ts";

const temporaryFolder = temporaryFolders();

/** A mirror whose use of the store can be observed: `onWrite` is called before and after each of its writes. */
async function newMirror(onWrite: (moment: "begins" | "done") => void = () => {}) {
  const directory = temporaryFolder();
  const file = join(directory, "tasks.json");
  const database = await sqliteDatabase({ file: join(directory, "asyncagents.db") });
  await migrate(database);
  let reads = 0;
  const observed: Database = {
    ...database,
    read(work) {
      reads++;
      return database.read(work);
    },
    async write(work) {
      onWrite("begins");
      const result = await database.write(work);
      onWrite("done");
      return result;
    },
  };
  const log: string[] = [];
  const lockFile = join(directory, "asyncagents.lock");
  const mirror = tasksJsonMirror({ database: observed, file, lockFile, log: (line) => log.push(line) });
  onTestFinished(async () => {
    await mirror.close();
    await database.close();
  });
  return { mirror, file, store: kyselyStore(database), log, reads: () => reads };
}

test("a store without tasks gets no file; a file is written again only if it is out of date or missing", async () => {
  const { mirror, file, store, log } = await newMirror();
  // Each write makes a new file while the old one exists.
  const written = () => statSync(file).ino;
  await mirror.flush();
  expect(existsSync(file)).toBe(false);

  await create(store, "a");
  await mirror.flush();
  const first = written();
  await mirror.flush();
  expect(written()).toBe(first);

  await store.apply("a", completed(2_000));
  await mirror.flush();
  expect(written()).not.toBe(first);

  rmSync(file);
  await mirror.flush();
  expect(existsSync(file)).toBe(true);
  expect(log).toEqual([]);
});

test("a failure of the store is logged, and fails nothing", async () => {
  const { mirror, file, store, log } = await newMirror(() => {
    throw new Error("the disk is full");
  });
  await create(store, "a");
  await mirror.flush();
  expect(log).toEqual([`store: ${file} could not be written: the disk is full`]);
});

test("closing does not look at the store again when nothing is pending, and writes what is", async () => {
  const idle = await newMirror();
  await create(idle.store, "a");
  await idle.mirror.flush();
  idle.mirror.touch();
  await idle.mirror.flush();
  const before = idle.reads();
  await idle.mirror.close();
  expect(idle.reads()).toBe(before);

  const pending = await newMirror();
  await create(pending.store, "a");
  pending.mirror.touch();
  await pending.mirror.close();
  expect(existsSync(pending.file)).toBe(true);
});

test("after a write, the next one waits for at least a second", async () => {
  const moments: number[] = [];
  const second = Promise.withResolvers<void>();
  const { mirror, store } = await newMirror((moment) => {
    moments.push(performance.now());
    if (moment === "done" && moments.length === 4) second.resolve();
  });
  await create(store, "a");
  await mirror.flush();
  await store.apply("a", completed(2_000));
  mirror.touch();
  await second.promise;
  const [, firstDone = 0, secondBegins = 0] = moments;
  // A timer may fire a millisecond early.
  expect(secondBegins - firstDone).toBeGreaterThan(990);
});

test("pruned tasks leave the file, although the feed does not move, and are not imported again", async () => {
  const directory = temporaryFolder();
  const open = () => sqliteStore({ directory });
  const store = await open();
  for (const id of ["a", "b"]) {
    await create(store, id, { batchId: id, parentSessionId: "" });
    await store.apply(id, completed(2_000));
  }
  await store.close();
  const mirrored = () => Object.keys(JSON.parse(readFileSync(join(directory, "tasks.json"), "utf8")));
  expect(mirrored()).toEqual(["a", "b"]);
  const pruning = await open();
  await pruning.prune({ endedBefore: 3_000, after: null, dryRun: false });
  await pruning.close();
  expect(mirrored()).toEqual(["b"]);
  const again = await open();
  expect((await again.tasks({})).tasks.map(({ id }) => id)).toEqual(["b"]);
  await again.close();
});
