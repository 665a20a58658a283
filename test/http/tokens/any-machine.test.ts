/** What the owner queued for any machine: who may change it before another machine begins it. */
import { expect, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { Desk } from "../../../src/engine/desk.ts";
import { isInstanceAlive } from "../../../src/process/liveness.ts";
import { sampleInstance } from "../../../src/testing/sample-instance.ts";
import { callTool, startTokenBed, type TokenBed } from "../bed/token-bed.ts";

const REMOTE = "https://example.org/shop.git";

/** Queued by the owner in a folder that others may use, too. */
async function queuedTask({ side }: TokenBed, fields: { remote?: string | null; retry?: number } = {}) {
  const { remote = REMOTE, retry = 0 } = fields;
  const directory = join(side.folder, "work");
  mkdirSync(directory, { recursive: true });
  await side.call("allow_directory", { directory });
  const desk = new Desk({ store: side.store, machine: "mac_1", engines: () => [], isAlive: isInstanceAlive });
  const repository = remote === null ? null : { remote, commit: "c1", path: "" };
  const folder = { directory, repository, bound: null };
  const request = { description: "x", prompt: "the owner's", batch: null, host: "scripted", agent: "general", folder };
  return { desk, task: await desk.enqueue({ ...request, choices: { retry } }, { isLimited: false }) };
}

const outcome = async (answer: Promise<Response>) => {
  const response = await answer;
  const { error } = (await response.json()) as { error?: { code: string } };
  return error?.code ?? response.status;
};

/** As a runner of another machine, in a clone, or of this one, in the folder. */
async function begin({ side }: TokenBed, directory: string): Promise<void> {
  await side.store.addInstance(sampleInstance("far"));
  const request = { runner: "far", hosts: ["scripted"], labels: [], machine: "mac_2", count: 1, leaseMs: 60_000 };
  const [claim] = await side.store.queue.claim({ ...request, at: 1, limits: {} });
  if (claim === undefined) throw new Error("nothing was claimed");
  const place = { sessionId: "ses_far", directory, agent: "general", model: null, messageId: "msg_1" };
  await side.store.queue.begin(claim, { type: "task.claimed", at: 2, run: 0, owner: "far", ...place });
}

test("others neither edit it nor tell it anything, over HTTP and MCP; the owner does", async () => {
  const bed = await startTokenBed();
  const { task } = await queuedTask(bed);
  const { store } = bed.side;
  const edit = (role: "launch" | "answer" | "admin", change: object) =>
    outcome(bed.post(`/v1/tasks/${task.id}/edit`, change, bed.secrets[role]));
  const steer = (role: "launch" | "answer" | "admin") =>
    outcome(bed.post(`/v1/tasks/${task.id}/steer`, { text: `from ${role}` }, bed.secrets[role]));
  for (const role of ["launch", "answer"] as const) {
    for (const change of [{ prompt: "another's" }, { after: [] }, { ifFailed: "run_anyway" }]) {
      expect(await edit(role, change)).toBe("not_allowed");
    }
    expect(await steer(role)).toBe("not_allowed");
  }
  // A model, whoever holds the token.
  for (const role of ["launch", "admin"] as const) {
    const said = await callTool(bed, bed.secrets[role], "steer_task", { handle: task.id, text: "from a model" });
    expect(said).toContain("may begin on any machine");
  }
  expect(await steer("admin")).toBe(201);
  expect(await edit("admin", { prompt: "the owner's second" })).toBe(200);
  const said = await store.steering(task.id);
  expect(said.map(({ text, state }) => [text, state])).toEqual([["from admin", "accepted"]]);
  const cancel = (role: "launch" | "admin") =>
    outcome(bed.post(`/v1/steering/${said[0]?.id}/cancel`, {}, bed.secrets[role]));
  expect([await cancel("launch"), await cancel("admin")]).toEqual(["not_allowed", 200]);
  expect((await store.task(task.id))?.run.prompt).toBe("the owner's second");
});

test("one that is bound to this machine is changed by whoever may work in its folder", async () => {
  const bed = await startTokenBed();
  const { task } = await queuedTask(bed, { remote: null });
  const path = `/v1/tasks/${task.id}`;
  expect(await outcome(bed.post(`${path}/edit`, { prompt: "another's" }, bed.secrets.launch))).toBe(200);
  expect(await outcome(bed.post(`${path}/steer`, { text: "x" }, bed.secrets.launch))).toBe(201);
});

test("at work here it listens to others, unless another machine may have to begin it again", async () => {
  for (const [retry, expected] of [
    [0, 201],
    [1, "not_allowed"],
  ] as const) {
    const bed = await startTokenBed();
    const { task } = await queuedTask(bed, { retry });
    await begin(bed, task.directory);
    expect(await outcome(bed.post(`/v1/tasks/${task.id}/steer`, { text: "x" }, bed.secrets.launch))).toBe(expected);
  }
});

test("what a caller says is refused if another machine has begun it since its folder was checked", async () => {
  const bed = await startTokenBed();
  const { task, desk } = await queuedTask(bed);
  await begin(bed, "/clones/shop");
  const said = desk.steer(task, { text: "x", by: "the-launch" }, { isOwner: false });
  await expect(said).rejects.toMatchObject({ code: "not_allowed" });
  expect(await bed.side.store.steering(task.id)).toEqual([]);
});
