/**
 * The part of the store suite about merges that met conflicts. See `store-conformance.ts`, which combines the parts.
 */
import { expect, test } from "bun:test";
import { fillBoard, sampleSession } from "../../sample-board.ts";
import { completed, create, resumed } from "../../sample-task.ts";
import type { StoreBed } from "./store-bed.ts";

export function conflictSuite(bed: StoreBed): void {
  test("a merge that met conflicts is shown with the attempt's newest task, until a run begins or it is merged", async () => {
    const store = await bed.fresh();
    await fillBoard(store);
    const { board } = store;
    const shown = async () =>
      (await store.inboxTasks({ failedAfter: 5, limit: 10 })).conflicts.map(({ task, text, at }) => [
        task.id,
        text,
        at,
      ]);
    for (const id of ["t", "u"]) {
      await create(store, id, { batchId: "a" }, 10);
      await board.addSession(sampleSession(`s-${id}`, { taskId: id }));
      await store.apply(id, completed(11, 0));
    }
    await board.noteConflict("a", "a.txt was changed in main", 12);
    expect(await shown()).toEqual([["u", "a.txt was changed in main", 12]]);
    await store.apply("t", resumed(13));
    expect(await shown()).toEqual([]);
    await board.noteConflict("a", "again", 14);
    await board.mergeAttempt("a", {}, 15);
    expect(await shown()).toEqual([]);
    await board.noteConflict("a", "long ago", 5);
    expect(await shown()).toEqual([]);
  });
}
