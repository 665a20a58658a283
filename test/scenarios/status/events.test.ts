/**
 * The event stream of the real OpenCode, read by a real EventSource: snapshot, changes, heartbeat, reconnection.
 */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { EventSource } from "eventsource";
import { freePort } from "../../../src/process/free-port.ts";
import { snapshotSchema } from "../../../src/protocol/events.ts";
import { type BackgroundTask, taskSchema } from "../../../src/protocol/tasks.ts";
import { call, fail, gate, say } from "../../../src/testing/models/script.ts";
import { Recorder } from "../../../src/testing/recorder.ts";
import { type Api, type Parent, World } from "../world.ts";

const NAMES = [
  "snapshot",
  "task.created",
  "task.updated",
  "task.completed",
  "task.error",
  "task.cancelled",
  "heartbeat",
];

interface Heard {
  name: string;
  id: string;
  at: number;
  // biome-ignore lint/suspicious/noExplicitAny: what came over the wire; the tests parse it.
  data: any;
}

/** Everything that one EventSource receives, in order. */
class Listener {
  readonly record = new Recorder<Heard>(({ name, id }) => `${id} ${name}`);
  readonly source: EventSource;

  constructor(url: string) {
    this.source = new EventSource(`${url}/v1/events`);
    for (const name of NAMES) {
      this.source.addEventListener(name, ({ data, lastEventId }) => {
        this.record.push({ name, id: lastEventId, at: Date.now(), data: JSON.parse(data) });
      });
    }
  }

  hear(
    name: string,
    fits: (data: Heard["data"]) => boolean = () => true,
    timeoutMs?: number,
    from = 0,
  ): Promise<Heard> {
    return this.record.waitFor((heard) => heard.name === name && fits(heard.data), { what: name, timeoutMs, from });
  }

  of(taskId: string): Heard[] {
    return this.record.items.filter(({ name, data }) => name.startsWith("task.") && data.id === taskId);
  }
}

let world: World;
let api: Api;
let parent: Parent;
let listener: Listener;
let connectedAt = 0;

beforeAll(async () => {
  world = await World.start({ env: { ASYNCAGENTS_API_PORT: String(await freePort()) } });
  api = await world.api();
  parent = await world.parent();
  await world.ended(await parent.launch([say("from before")], { description: "from before" }));
  await world.settled();
  await (await world.parent()).launch([gate("events-live"), say("x")], { description: "lives" });
  await world.model.gate("events-live").reachedBy(1);
  connectedAt = Date.now();
  listener = new Listener(api.url);
});
afterAll(async () => {
  listener?.source.close();
  await world?.stop();
});

const task = (heard: Heard): BackgroundTask => taskSchema.parse(heard.data);

test("a connection begins with a snapshot of all tasks and the figures [AT-21.1]", async () => {
  const heard = await listener.hear("snapshot");
  const snapshot = snapshotSchema.parse(heard.data);
  expect(listener.record.items[0]).toBe(heard);
  expect(snapshot.tasks.map(({ description, status }) => [description, status])).toEqual([
    ["lives", "running"],
    ["from before", "completed"],
  ]);
  expect(snapshot).toMatchObject({ total: 2, truncated: false });
  const [run] = await world.store.runs(snapshot.tasks[1]?.id ?? "");
  const took = (run?.endedAt ?? 0) - (run?.startedAt ?? 0);
  expect(snapshot.stats).toMatchObject({
    totalTasks: 2,
    activeTasks: 1,
    byAgent: { general: 2 },
    byStatus: { running: 1, completed: 1, error: 0, cancelled: 0, resumed: 0 },
    duration: { avg: took, max: took, min: took, count: 1 },
  });
  expect(Number(heard.id)).toBeGreaterThan(0);
});

test("a launch, its progress and its completion are reported as they happen [AT-21.2, AT-21.3, AT-21.4]", async () => {
  await listener.hear("snapshot");
  const id = await parent.launch([call("read", { filePath: "notes.txt" }), gate("events-held"), say("well done")]);
  const created = task(await listener.hear("task.created", (data) => data.id === id));
  expect(created).toMatchObject({ id, status: "running", parentSessionID: parent.sessionId, result: null });
  const updated = task(await listener.hear("task.updated", (data) => data.id === id && data.progress.toolCalls === 1));
  expect(updated).toMatchObject({ status: "running", progress: { lastTools: ["read"] } });
  world.model.gate("events-held").open();
  const completed = task(await listener.hear("task.completed", (data) => data.id === id));
  expect(completed).toMatchObject({ status: "completed", result: "well done", progress: { toolCalls: 1 } });
  // Each contains the whole task: the fields that never change are the same as in the API.
  const { description, prompt, agent, model, parentMessageID, batchId, directory, host, startedAt } =
    await api.client.task(id);
  const fixed = { description, prompt, agent, model, parentMessageID, batchId, directory, host, startedAt };
  for (const each of [created, updated, completed]) expect(each).toMatchObject(fixed);
  const names = listener.of(id).map(({ name }) => name);
  expect([names[0], names.filter((name) => name !== "task.updated")]).toEqual([
    "task.created",
    ["task.created", "task.completed"],
  ]);
});

test("a failure is reported with what went wrong [AT-21.5]", async () => {
  const id = await parent.launch([fail(400, "the provider says no")]);
  const heard = task(await listener.hear("task.error", (data) => data.id === id));
  expect(heard).toMatchObject({ status: "error", error: expect.stringContaining("the provider says no") });
});

test("a cancellation is reported [AT-21.6]", async () => {
  const id = await parent.launch([gate("events-never"), say("x")]);
  await world.model.gate("events-never").reachedBy(1);
  await parent.ask("cancel", { task_id: id });
  expect(task(await listener.hear("task.cancelled", (data) => data.id === id))).toMatchObject({ status: "cancelled" });
});

test("another process's actions are reported too, and its log is fetched from it", async () => {
  const other = await World.start({ model: world.model, home: world.opencode.home });
  try {
    const theirs = await other.parent();
    const id = await theirs.launch([
      call("bash", { command: "echo elsewhere", description: "x" }),
      gate("events-other"),
      say("theirs"),
    ]);
    expect(task(await listener.hear("task.created", (data) => data.id === id))).toMatchObject({
      directory: other.opencode.directory,
    });
    await other.model.gate("events-other").reachedBy(1);
    const { messages } = await api.client.logs(id);
    expect(JSON.stringify(messages)).toContain("elsewhere\\n");
    other.model.gate("events-other").open();
    expect(task(await listener.hear("task.completed", (data) => data.id === id)).result).toBe("theirs");
  } finally {
    await other.stop();
  }
});

test("every event has an id, and ids increase", () => {
  const ids = listener.record.items.filter(({ name }) => name !== "heartbeat").map(({ id }) => Number(id));
  expect(ids.length).toBeGreaterThan(8);
  expect(ids).toEqual([...new Set(ids)].toSorted((one, other) => one - other));
});

test("a heartbeat comes after 30 seconds, in real time, with its time [AT-21.7]", async () => {
  const { data, at } = await listener.hear("heartbeat", () => true, 40_000);
  expect(new Date(data.ts).toISOString()).toBe(data.ts);
  expect(Math.abs(at - Date.parse(data.ts))).toBeLessThan(2000);
  // Not sooner: the timer started with this stream, the server's first.
  expect(at - connectedAt).toBeGreaterThanOrEqual(29_000);
  expect(at - connectedAt).toBeLessThan(34_000);
}, 60_000);

test("after a lost connection the client starts with a fresh snapshot and continues from there [AT-21.8]", async () => {
  const from = listener.record.items.length;
  world.model.gate("events-live").open();
  await world.settled();
  await world.opencode.waitIdle(parent.sessionId);
  await world.opencode.restart();
  await world.begun();
  const again = await listener.hear("snapshot", () => true, 30_000, from);
  const total = (await world.store.tasks({ limit: 1 })).total;
  expect(snapshotSchema.parse(again.data).tasks).toHaveLength(total);
  const id = await (await world.parent()).launch([say("after")]);
  const told = await listener.hear("task.completed", (data) => data.id === id);
  expect(Number(told.id)).toBeGreaterThan(Number(again.id));
  // A new reader learns about that one too: no earlier snapshot is reused.
  const late = new Listener(api.url);
  const fresh = snapshotSchema.parse((await late.hear("snapshot")).data);
  late.source.close();
  expect(fresh.tasks.find((each) => each.id === id)).toMatchObject({ status: "completed", result: "after" });
});
