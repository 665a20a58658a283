import { describe, expect, test } from "bun:test";
import { Overview } from "../../src/engine/watching/overview.ts";
import { call, fail, gate, type ScriptedScript, say } from "../../src/hosts/scripted/script.ts";
import { EventStreams } from "../../src/http/events/event-streams.ts";
import { noProgress } from "../../src/model/progress.ts";
import type { Task } from "../../src/model/task.ts";
import { snapshotSchema } from "../../src/protocol/events.ts";
import { taskSchema } from "../../src/protocol/tasks.ts";
import { sampleProject } from "../../src/testing/sample-board.ts";
import { completed, create, newTask, resumed } from "../../src/testing/sample-task.ts";
import { ended, launch } from "../engine/engine-bed.ts";
import { type Api, atEnd, startApi } from "./bed/api-bed.ts";
import { EventReader, snapshotOf, taskOf } from "./bed/event-reader.ts";
import { strict } from "./bed/strict-schema.ts";

/** A reader that has read its snapshot. */
async function following(api: Api): Promise<EventReader> {
  const reader = await EventReader.open(api);
  await reader.until(({ name }) => name === "snapshot");
  return reader;
}

/** The name and the status of each change up to the newest in the store. */
async function told(api: Api, reader: EventReader): Promise<string[]> {
  await reader.through(await api.store.lastSeq());
  return reader.events.slice(1).map((event) => `${event.name} ${taskOf(event).status}`);
}

describe("a stream", () => {
  test("begins with all tasks and the figures, as of one point in the feed", async () => {
    const api = await startApi();
    await create(api.store, "one", {}, 1000);
    await create(api.store, "two", {}, 2000);
    await api.store.apply("one", completed(3000));
    const reader = await EventReader.open(api);
    const first = await reader.next();
    expect([first?.name, first?.id]).toEqual(["snapshot", await api.store.lastSeq()]);
    const snapshot = strict(snapshotSchema).parse(JSON.parse(first?.data ?? ""));
    expect(snapshot).toMatchObject({
      total: 2,
      truncated: false,
      tasks: [{ id: "two" }, { id: "one", result: "done" }],
    });
    expect(snapshot).toMatchObject({ stats: await api.client.stats() });
    expect(reader.response.headers.get("cache-control")).toBe("no-store");
  });

  test("of an empty store begins with an empty snapshot", async () => {
    const api = await startApi();
    const reader = await following(api);
    expect(reader.events[0]).toMatchObject({ id: 0, name: "snapshot" });
    await create(api.store, "first");
    expect(await told(api, reader)).toEqual(["task.created running"]);
  });

  test("reports changes of the board, and no other changes", async () => {
    const api = await startApi();
    const reader = await following(api);
    const other = await api.world.side();
    await create(api.store, "one");
    await other.store.board.addProject(sampleProject("p"));
    const { data } = await reader.until(({ name }) => name === "board.changed");
    expect(Math.abs(Date.now() - Date.parse(JSON.parse(data).ts))).toBeLessThan(60_000);
    await create(api.store, "two");
    await reader.through(await api.store.lastSeq());
    expect(reader.events.map(({ name }) => name).filter((name) => name === "board.changed")).toEqual(["board.changed"]);
  });

  test("reports the whole life of tasks, each change with the state right after it", async () => {
    const api = await startApi();
    const reader = await following(api);
    const parent = api.world.parent();
    const start = (...steps: ScriptedScript) => launch(api.side, parent, api.world.script(...steps));
    const working = await start(call("bash"), gate("door"), say("x"));
    await reader.until((event) => event.name === "task.updated" && taskOf(event).progress.toolCalls === 1);
    api.side.host.gate("door").open();
    const done = await ended(api.side, working);
    const bad = await ended(api.side, await start(fail("no credit")));
    const off = await start(gate("never"));
    await api.client.cancel(off.id);
    await reader.through(await api.store.lastSeq());
    const changes = reader.events.slice(1).map((event) => ({ name: event.name, task: taskOf(event) }));
    const of = (task: Task) => changes.filter((change) => change.task.id === task.id);
    expect(of(done)[0]).toMatchObject({ name: "task.created", task: { status: "running", phase: "starting" } });
    expect(of(done).at(-1)).toMatchObject({ name: "task.completed", task: { status: "completed", result: "x" } });
    expect(
      of(done)
        .slice(1, -1)
        .every(({ name, task }) => name === "task.updated" && task.status === "running"),
    ).toBe(true);
    expect(of(bad).at(-1)).toMatchObject({ name: "task.error", task: { status: "error", error: "no credit" } });
    expect(of(off).at(-1)).toMatchObject({ name: "task.cancelled", task: { status: "cancelled" } });
    for (const { task } of changes) strict(taskSchema).parse(task);
    const ids = reader.events.map(({ id }) => id);
    expect(ids).toEqual([...new Set(ids)].sort((one, other) => one - other));
  });

  test("cuts long texts like lists do", async () => {
    const api = await startApi();
    const reader = await following(api);
    await create(api.store, "long", { prompt: "p".repeat(9000) });
    await told(api, reader);
    const [, created] = reader.events;
    expect(created && taskOf(created)).toMatchObject({ shortened: ["prompt"], prompt: "p".repeat(8192) });
  });

  test("reports retrieved and cleared results as updates of the task", async () => {
    const api = await startApi();
    await create(api.store, "one");
    await api.store.apply("one", completed(2000));
    const reader = await following(api);
    await api.store.apply("one", { type: "result.retrieved", at: 3000 });
    expect(await told(api, reader)).toEqual(["task.updated completed"]);
    await api.store.apply("one", { type: "task.cleared", at: 4000 });
    expect(await told(api, reader)).toEqual(["task.updated completed", "task.updated completed"]);
    expect(reader.events.slice(1).map((event) => taskOf(event).clearedAt)).toEqual([null, "1970-01-01T00:00:04.000Z"]);
  });

  test("carries text with any kind of line break in one event", async () => {
    const api = await startApi();
    const reader = await following(api);
    const description = "a\n\nb\r\nc\u2028d\re\n\nevent: evil\ndata: {}\n\n";
    await create(api.store, "one", { description });
    await told(api, reader);
    expect(reader.events).toHaveLength(2);
    expect(reader.events[1] && taskOf(reader.events[1]).description).toBe(description);
  });
});

describe("a task that changes immediately", () => {
  const REST = { type: "run.completed", at: 5000, run: 1, result: "second", progress: null } as const;

  test("is shown in each state if it was created while someone watched", async () => {
    const api = await startApi();
    const reader = await following(api);
    await api.store.write(async (transaction) => {
      await transaction.apply("one", { type: "task.created", at: 1000, task: newTask("one") });
      await transaction.apply("one", completed(2000));
      await transaction.apply("one", resumed(3000));
      await transaction.apply("one", { type: "run.progressed", at: 4000, run: 1, progress: noProgress(4000) });
    });
    expect(await told(api, reader)).toEqual([
      "task.created running",
      "task.completed completed",
      "task.updated resumed",
      "task.updated resumed",
    ]);
  });

  test("is shown in each state if it started before anyone watched", async () => {
    const api = await startApi();
    await create(api.store, "one");
    const reader = await following(api);
    await api.store.write(async (transaction) => {
      await transaction.apply("one", completed(2000));
      await transaction.apply("one", resumed(3000));
    });
    expect(await told(api, reader)).toEqual(["task.completed completed", "task.updated resumed"]);
  });

  test("is shown in each state if it had ended before anyone watched", async () => {
    const api = await startApi();
    await create(api.store, "one");
    await api.store.apply("one", completed(2000));
    const reader = await following(api);
    await api.store.write(async (transaction) => {
      await transaction.apply("one", { type: "result.retrieved", at: 2500 });
      await transaction.apply("one", resumed(3000));
      await transaction.apply("one", REST);
    });
    expect(await told(api, reader)).toEqual([
      "task.updated completed",
      "task.updated resumed",
      "task.completed completed",
    ]);
    expect(reader.events.slice(1).map((event) => taskOf(event).resumeCount)).toEqual([0, 1, 1]);
  });
});

describe("heartbeats", () => {
  test("come on their own timer, with the time and without an id [AT-21.7]", async () => {
    const api = await startApi({ heartbeatMs: 20 });
    const reader = await following(api);
    const beats = [await reader.next(), await reader.next(), await reader.next()];
    for (const beat of beats) {
      expect([beat?.name, beat?.id]).toEqual(["heartbeat", -1]);
      const { ts } = JSON.parse(beat?.data ?? "{}");
      expect(new Date(ts).toISOString()).toBe(ts);
    }
  });

  test("are passed on by the package's own client", async () => {
    const api = await startApi({ heartbeatMs: 20 });
    const seen: string[] = [];
    for await (const event of api.client.events()) {
      seen.push(event.type);
      if (seen.length === 3) break;
    }
    expect(seen).toEqual(["snapshot", "heartbeat", "heartbeat"]);
  });
});

describe("a large store", () => {
  test("gives a bounded snapshot that holds every live task and the newest others", async () => {
    const api = await startApi();
    const prompt = "p".repeat(3000);
    await api.store.write(async (transaction) => {
      for (let index = 0; index < 600; index++) {
        const id = `t${index}`;
        await transaction.apply(id, { type: "task.created", at: 1000 + index, task: newTask(id, { prompt }) });
        if (index % 20 !== 0) await transaction.apply(id, completed(9000));
      }
    });
    const reader = await following(api);
    const [first] = reader.events;
    if (!first) throw new Error("no snapshot");
    const snapshot = snapshotOf(first);
    expect(first.data.length).toBeLessThan(320 * 1024);
    expect(snapshot).toMatchObject({ total: 600, truncated: true, stats: { totalTasks: 600, activeTasks: 30 } });
    const ids = snapshot.tasks.map(({ id }) => Number(id.slice(1)));
    expect(ids.filter((id) => id % 20 === 0)).toHaveLength(30);
    expect(ids.slice(0, 50)).toEqual(Array.from({ length: 50 }, (_, index) => 599 - index));
    await create(api.store, "next", {}, 99_000);
    expect(await told(api, reader)).toEqual(["task.created running"]);
  });
});

test("a quiet stream is not cut when others are", async () => {
  const { world, store, logged } = await startApi();
  const streams = new EventStreams({
    overview: new Overview(store),
    log: { info() {}, error: (line) => logged.push(line) },
  });
  const quiet = () => new Response(new ReadableStream({ start: (controller) => controller.enqueue(Buffer.from("x")) }));
  const server: Bun.Server<undefined> = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 1,
    fetch: (request) =>
      request.url.endsWith("/v1/events") ? streams.open({ request, caller: { token: null } }, server) : quiet(),
  });
  atEnd(world, () => server.stop(true));
  const reader = await EventReader.open({ world, url: server.url.origin });
  await reader.next();
  // The same server cuts an idle stream that did not ask to stay open.
  const cut = await fetch(`${server.url.origin}/other`).then((answer) => answer.text().catch(() => "cut"));
  expect(cut).toBe("cut");
  await create(store, "late");
  expect((await reader.next())?.name).toBe("task.created");
});
