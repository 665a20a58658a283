/** The part of the store suite about transcripts: the newest run of a task counts, whoever writes last. */
import { expect, test } from "bun:test";
import { create } from "../../sample-task.ts";
import type { StoreBed } from "./store-bed.ts";

export function transcriptSuite({ fresh }: StoreBed): void {
  test("one of each kind is kept per task: that of the newest run", async () => {
    const store = await fresh();
    await create(store, "t");
    const kept = { taskId: "t", kind: "conversation", run: 1, content: "one", at: 1 } as const;
    expect(await store.transcripts.get("t", "conversation")).toBeNull();
    await store.transcripts.put([kept]);
    expect(await store.transcripts.get("t", "conversation")).toEqual(kept);
    expect(await store.transcripts.get("t", "diff")).toBeNull();
    await store.transcripts.put([{ ...kept, run: 0, content: "late" }]);
    expect(await store.transcripts.get("t", "conversation")).toEqual(kept);
    await store.transcripts.put([{ ...kept, content: "again", at: 2 }]);
    await store.transcripts.put([{ ...kept, kind: "diff", run: 2, content: "diff" }]);
    expect(await store.transcripts.get("t", "conversation")).toEqual({ ...kept, content: "again", at: 2 });
    expect(await store.transcripts.get("t", "diff")).toMatchObject({ run: 2, content: "diff" });
  });

  test("none is kept of a task that does not exist, whatever its id", async () => {
    const store = await fresh();
    const lost = { kind: "diff", run: 0, content: "x", at: 1 } as const;
    await store.transcripts.put(["gone", "no\0id", "half \ud800"].map((taskId) => ({ taskId, ...lost })));
    expect(await store.transcripts.get("gone", "diff")).toBeNull();
  });
}
