import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fillStore } from "../../bench/status/filled-store.ts";
import { foreignWrites } from "../../bench/status/foreign-writes.ts";
import { PLANTED, storedTask } from "../../bench/status/stored-tasks.ts";
import { sqliteStore } from "../../src/store/open.ts";

const folder = mkdtempSync(join(tmpdir(), "asyncagents-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("a filled store has its tasks, newest first, and nothing to recover or notify; a write from outside is visible", async () => {
  await fillStore(folder, 120);
  const store = await sqliteStore({ directory: folder });
  try {
    const page = await store.tasks({ limit: 50 });
    expect(page.total).toBe(120);
    expect(page.tasks.map(({ id }) => id)).toEqual(Array.from({ length: 50 }, (_, age) => storedTask(age).id));
    expect((await store.tasks({ search: PLANTED.hundredth })).total).toBe(2);
    expect((await store.tasks({ status: ["running", "resumed"] })).total).toBe(0);
    expect(await store.parentsWithNotices()).toEqual([]);

    const seq = await store.lastSeq();
    const writes = foreignWrites(folder);
    writes.write();
    writes.close();
    expect(await store.lastSeq()).toBe(seq + 1);
    expect((await store.task(storedTask(0).id))?.resultRetrievedAt).toBeGreaterThan(0);
  } finally {
    await store.close();
  }
});
