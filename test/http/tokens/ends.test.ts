import { expect, test } from "bun:test";
import { completed, create } from "../../../src/testing/sample-task.ts";
import { startTokenBed } from "../bed/token-bed.ts";

test("no token takes, or settles, what a session of Claude Code on this machine has to be told", async () => {
  const bed = await startTokenBed();
  const { store } = bed.side;
  const client = "client:claude:of-a-person";
  await create(store, "task_1");
  await store.followers.add({ handle: "task_1", client, way: "hook", callId: "toolu_1" }, 1);
  await store.apply("task_1", completed(2_000));
  for (const secret of [bed.secrets.launch, bed.secrets.admin]) {
    const taking = await bed.post("/v1/board/next_ends", { session: "of-a-person", event: "start" }, secret);
    expect(taking.status).toBe(403);
    const settling = await bed.post("/v1/board/hear_ends", { client, handles: ["task_1"] }, secret);
    expect(settling.status).toBe(403);
  }
  expect((await store.followers.open(client)).length).toBe(1);
});
