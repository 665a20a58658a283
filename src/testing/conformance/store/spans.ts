/** The part of the store suite about what runs spent their time on: stored with the events of their runs. */
import { expect, test } from "bun:test";
import type { WorkSpan } from "../../../model/live-run/work-spans.ts";
import { noProgress } from "../../../model/progress.ts";
import { completed, create, resumed } from "../../sample-task.ts";
import type { StoreBed } from "./store-bed.ts";

const CALL: WorkSpan = { kind: "call", name: "bash", from: 1_100, to: 1_200, count: 1, failed: 0, busyMs: 100 };
const WAIT: WorkSpan = { kind: "waiting", name: null, from: 1_300, to: null, count: 1, failed: 0, busyMs: 0 };

export function workSpanSuite({ fresh }: StoreBed): void {
  test("spans are stored with an event of their run, replace those before, and are read by task and by batch", async () => {
    const store = await fresh();
    for (const id of ["a", "b", "other"]) await create(store, id, { batchId: id === "other" ? "two" : "one" });
    const progressed = { type: "run.progressed", at: 1_150, run: 0, progress: noProgress(1_150) } as const;
    // At once: on PostgreSQL they are written together.
    await Promise.all(["a", "b", "other"].map((id) => store.apply(id, progressed, undefined, [CALL])));
    await store.apply("a", { ...progressed, at: 1_300 }, undefined, [CALL, WAIT]);
    expect(await store.spans({ taskId: "a" })).toMatchObject([{ taskId: "a", run: 0, spans: [CALL, WAIT] }]);
    await store.apply("a", completed(2_000));
    await store.apply("a", resumed(3_000));
    await store.apply("a", { ...progressed, at: 3_100, run: 1 }, undefined, [{ ...CALL, name: "naïve\0\ud800" }]);
    const runs = await store.spans({ taskId: "a" });
    expect(runs.map(({ run, startedAt }) => [run, startedAt])).toEqual([
      [1, 3_000],
      [0, 1_000],
    ]);
    expect(runs[0]?.spans[0]?.name).toBe("naïve\ufffd\ufffd");
    expect(await store.spans({ taskId: "a", run: 0 })).toMatchObject([{ run: 0, spans: [CALL, WAIT] }]);
    expect((await store.spans({ batchId: "one" })).map(({ taskId }) => taskId).toSorted()).toEqual(["a", "a", "b"]);
    expect(await store.spans({ batchId: "one", limit: 1 })).toMatchObject([{ taskId: "a", run: 1 }]);
    expect(await store.spans({ taskId: "nobody" })).toEqual([]);
  });

  test("spans of an event that is refused are not stored", async () => {
    const store = await fresh();
    await create(store, "a");
    await store.apply("a", completed(2_000), undefined, [CALL]);
    const late = { type: "run.progressed", at: 2_100, run: 0, progress: noProgress(2_100) } as const;
    expect((await store.apply("a", late, undefined, [CALL, WAIT])).changed).toBe(false);
    expect(await store.spans({ taskId: "a" })).toMatchObject([{ spans: [CALL] }]);
  });
}
