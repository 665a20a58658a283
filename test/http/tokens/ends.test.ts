import { expect, test } from "bun:test";
import { AsyncAgentsError } from "../../../src/model/errors.ts";
import { completed, create } from "../../../src/testing/sample-task.ts";
import { askMcp, startTokenBed } from "../bed/token-bed.ts";

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

test("no token makes a session of Claude Code on this machine read something, or keeps it from that", async () => {
  const bed = await startTokenBed();
  const { store } = bed.side;
  const client = "client:claude:of-a-person";
  for (const id of ["task_theirs", "task_new", "task_asked"]) await create(store, id);
  await store.followers.add({ handle: "task_asked", client, way: "task", callId: null }, 1);
  const { launch } = bed.secrets;
  const follow = { handle: "task_theirs", client, way: "hook", call: "toolu_of_the_person" };
  expect((await bed.post("/v1/board/follow_launch", follow, launch)).status).toBe(200);
  expect(await store.followers.ofCall("toolu_of_the_person")).toBeNull();
  await store.apply("task_theirs", completed(2_000));
  expect(await store.followers.claim(client, { messageId: "ntc_1", at: 10_000, graceMs: 0, sender: null })).toEqual([]);
  // Nor is somebody else the first to follow what the session has just launched, or told in its place.
  await store.apply("task_asked", completed(2_000));
  for (const handle of ["task_new", "task_asked"])
    expect((await bed.post("/v1/board/read_end", { handle }, launch)).status).toBe(200);
  expect(await store.followers.get("task_new")).toBeNull();
  expect((await store.followers.open(client)).map(({ handle }) => handle)).toEqual(["task_asked"]);
  // What the holder follows is told to the holder.
  await create(store, "task_own");
  await store.apply("task_own", completed(2_000));
  const own = { handle: "task_own", client: "client:mcp:task_own", way: "task" };
  expect((await bed.post("/v1/board/follow_launch", own, launch)).status).toBe(200);
  expect((await store.followers.open(own.client)).length).toBe(1);
  expect((await bed.post("/v1/board/read_end", { handle: "task_own" }, launch)).status).toBe(200);
  expect(await store.followers.open(own.client)).toEqual([]);
});

test("a task of MCP is at work only while that is unknown: who may not ask for it gets an error", async () => {
  const bed = await startTokenBed();
  await create(bed.side.store, "task_1");
  await bed.side.store.apply("task_1", completed(2_000));
  const ask = async (secret: string) => {
    const answer = await askMcp(bed, secret, "tasks/get", { taskId: "task_1" });
    return JSON.parse(/^data: (.*)$/m.exec(answer)?.[1] ?? answer);
  };
  expect(await ask(bed.secrets.launch)).toMatchObject({ result: { status: "completed" } });
  const refused = await ask(bed.secrets.read);
  expect(refused).toMatchObject({ error: { message: expect.stringContaining("launch") } });
  // The next time there may be an answer.
  for (const code of ["store_unavailable", "too_many_requests"] as const) {
    bed.side.store.task = () => Promise.reject(new AsyncAgentsError(code, "Not now."));
    expect(await ask(bed.secrets.launch)).toMatchObject({ result: { status: "working" } });
  }
});
