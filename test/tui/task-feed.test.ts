/** The panel's tasks and actions over real HTTP, on a real store, with a scripted agent. */
import { expect, test } from "bun:test";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ask, fail, gate, type ScriptedScript, say } from "../../src/hosts/scripted/script.ts";
import { findServer } from "../../src/tui/find-server.ts";
import type { PanelTask } from "../../src/tui/panel-task.ts";
import { actionsOf, outcomeOf } from "../../src/tui/task-actions.ts";
import { type FeedState, TaskFeed } from "../../src/tui/task-feed.ts";
import { ended, when } from "../engine/engine-bed.ts";
import { type Api, startApi, stored } from "../http/bed/api-bed.ts";

const QUIET = { info: () => {}, error: () => {} };
const LIMIT_MS = 20_000;

/** A feed that looks where the panel looks, and waits for what it shows. */
function follow(api: Api) {
  const leaving = new AbortController();
  let state: FeedState = { tasks: [], isConnected: false };
  let changes = 0;
  const looks = new Set<() => void>();
  const feed = new TaskFeed({
    find: () => findServer(api.world.directory, 1),
    signal: leaving.signal,
    log: QUIET,
    onChange: (next) => {
      state = next;
      changes++;
      for (const look of looks) look();
    },
  });
  const running = feed.run();
  const shows = async <T>(what: (state: FeedState) => T | undefined | false): Promise<T> => {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const look = () => {
      const found = what(state);
      if (found !== undefined && found !== false) resolve(found);
    };
    const timer = setTimeout(() => reject(new Error(`never shown; ${JSON.stringify(state)}`)), LIMIT_MS);
    looks.add(look);
    look();
    return promise.finally(() => {
      clearTimeout(timer);
      looks.delete(look);
    });
  };
  const task = (id: string, isMeant: (task: PanelTask) => boolean) =>
    shows(({ tasks }) => tasks.find((each) => each.id === id && isMeant(each)));
  const stop = async () => {
    leaving.abort();
    await running;
  };
  return { feed, shows, task, stop, changes: () => changes };
}

const launched = async (api: Api, ...steps: ScriptedScript) =>
  (await api.client.launch({ description: "Look", prompt: api.world.script(...steps), agent: "general" })).id;

function act(api: Api, task: PanelTask, title: string, given: string[] = []): Promise<string> {
  const action = actionsOf(task).find((each) => each.title.startsWith(title));
  if (!action) throw new Error(`${title} is not among ${actionsOf(task).map((each) => each.title)}`);
  return action.run(api.client, given);
}

test("the feed follows tasks, loses a server, and finds the next one", async () => {
  const api = await startApi();
  const panel = follow(api);
  await panel.shows(({ isConnected }) => isConnected);
  const id = await launched(api, gate("door"), say("seen"));
  await panel.task(id, (task) => task.isLive);
  await api.server.stop();
  const offline = await panel.shows((state) => !state.isConnected && state);
  expect(offline.tasks.map((task) => task.id)).toEqual([id]);
  expect(() => panel.feed.client).toThrow("no connection");
  const next = await startApi({ world: api.world });
  api.side.host.gate("door").open();
  await panel.task(id, (task) => task.status === "completed");
  expect(await outcomeOf(panel.feed.client, id)).toBe("seen");
  expect((await next.client.task(id)).resultRetrievedAt).not.toBeNull();
  await panel.stop();
});

test("many changes of many tasks are few changes on the screen", async () => {
  const api = await startApi();
  const panel = follow(api);
  await panel.shows(({ isConnected }) => isConnected);
  const before = panel.changes();
  const ids = await Promise.all(Array.from({ length: 20 }, () => launched(api, say("one"), say("two"))));
  for (const id of ids) await panel.task(id, (task) => task.status === "completed");
  expect(panel.changes() - before).toBeLessThan(40);
  await panel.stop();
});

test("a permission is allowed, a question answered, and each answer is for its own request", async () => {
  const api = await startApi();
  const panel = follow(api);
  const id = await launched(api, ask("permission", "May I?"), ask("question", "Which?"), say("thanks"));
  const first = await panel.task(id, (task) => task.request?.kind === "permission");
  expect(actionsOf(first).map(({ title, allows = false }) => [title, allows])).toEqual([
    ["Allow once", true],
    ["Allow always", true],
    ["Reject", false],
    ["Reject, and say why", false],
    ["Tell it something while it works", false],
    ["Cancel it", false],
  ]);
  expect(await act(api, first, "Allow once")).toBe("Allowed this time.");
  const second = await panel.task(id, (task) => task.request?.kind === "question");
  // The dialog of the first request may still be open.
  expect(await act(api, first, "Allow always").catch((thrown) => thrown.code)).toBe("nothing_asked");
  expect(actionsOf(second)[0]?.asks).toEqual(["Which?"]);
  await act(api, second, "Answer", ["this"]);
  const done = await panel.task(id, (task) => task.status === "completed");
  expect((await api.client.task(id)).phaseDetail).toMatchObject({ kind: "answered", by: "panel" });
  expect(actionsOf(done).map(({ title }) => title)).toEqual(["Continue it with a message", "Retry: launch it again"]);
  await panel.stop();
});

test("a task is cancelled, launched again, and continued", async () => {
  const api = await startApi();
  const panel = follow(api);
  const id = await launched(api, gate("never"), say("x"));
  const live = await panel.task(id, (task) => task.isLive && task.sessionId !== "");
  expect(actionsOf(live).find(({ title }) => title === "Cancel it")?.confirms).toBe("Stop this task?");
  await act(api, live, "Cancel it");
  const cancelled = await panel.task(id, (task) => task.status === "cancelled");
  const known = new Set((await api.client.tasks()).tasks.map((task) => task.id));
  await act(api, cancelled, "Retry");
  const again = await panel.shows(({ tasks }) => tasks.find((task) => !known.has(task.id)));
  expect(again.description).toBe("Look");
  await act(api, again, "Cancel it");
  const done = await launched(api, say("first"));
  await ended(api.side, await stored(api, done));
  const completed = await panel.task(done, (task) => task.status === "completed");
  expect(await act(api, completed, "Continue", ["And now?"])).toBe("It continues.");
  expect((await api.client.task(done)).prompt).toBe("And now?");
  const failed = await launched(api, fail("no credit"));
  await when(api.side, await stored(api, failed), ({ status }) => status === "error");
  const bad = await panel.task(failed, (task) => task.status === "error");
  expect([bad.error, await outcomeOf(api.client, failed)]).toEqual([
    expect.stringContaining("no credit"),
    expect.stringContaining("no credit"),
  ]);
  await panel.stop();
});

test("the server of this process is preferred, and files that are no records are ignored", async () => {
  const api = await startApi();
  const { directory } = api.world;
  const own = { url: "http://127.0.0.1:1", token: "own" };
  writeFileSync(join(directory, "servers", "4711.json"), JSON.stringify(own));
  expect(findServer(directory, 4711)).toEqual(own);
  expect(findServer(directory, 4712)).toEqual({ url: api.url, token: api.token });
  for (const text of ["", "[]", "null", '{"url":"x","token":"t"}', '{"url":"http://x"}']) {
    writeFileSync(join(directory, "servers", "4711.json"), text);
    expect(findServer(directory, 4711)?.url).toBe(api.url);
  }
  rmSync(join(directory, "server.json"));
  expect(findServer(directory, 4712)).toBeNull();
});

test("servers that refuse, hang, send garbage or fall silent are left, noted once, and tried again", async () => {
  const api = await startApi();
  const id = await launched(api, say("seen"));
  await ended(api.side, await stored(api, id));
  const snapshot = (tasks: unknown) => `event: snapshot\nid: 1\ndata: ${JSON.stringify({ tasks })}\n\n`;
  const good = snapshot([await api.client.task(id)]);
  const streams: (() => Response | Promise<Response>)[] = [
    () => new Response("no", { status: 401 }),
    () => new Response("no", { status: 401 }),
    () => new Promise<Response>(() => {}),
    () => new Response("<html>", { headers: { "content-type": "text/html" } }),
    () => new Response("event: snapshot\ndata: {\n\n"),
    () => new Response(snapshot(undefined)),
    () => new Response(snapshot([{ id: "broken" }, null, 7])),
    // It says nothing more, and stays open.
    () => new Response(new ReadableStream({ start: (to) => to.enqueue(new TextEncoder().encode(good)) })),
  ];
  let asked = 0;
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    fetch: ({ url }) =>
      url.includes("/events") ? (streams[Math.min(asked++, streams.length - 1)]?.() ?? new Response()) : forever(),
  });
  const forever = () => new Promise<Response>(() => {});
  const notes: unknown[] = [];
  const log = {
    info: (_: string, { reason }: Record<string, unknown> = {}) => void notes.push(reason),
    error: () => {},
  };
  const leaving = new AbortController();
  const seen = Promise.withResolvers<void>();
  const lost = Promise.withResolvers<void>();
  const feed = new TaskFeed({
    find: () => ({ url: server.url.href, token: "t" }),
    signal: leaving.signal,
    log,
    answerMs: 100,
    silenceMs: 300,
    maxWaitMs: 20,
    onChange: ({ tasks, isConnected }) => {
      if (tasks.some((task) => task.id === id) && isConnected) seen.resolve();
      if (tasks.some((task) => task.id === id) && !isConnected) lost.resolve();
    },
  });
  const running = feed.run();
  await seen.promise;
  expect(asked).toBeGreaterThanOrEqual(streams.length);
  // A person is told, instead of waiting for a server that hangs.
  expect(await feed.client.cancel(id).catch((thrown) => thrown.code)).toBe("host_unavailable");
  await lost.promise;
  leaving.abort();
  await running;
  await server.stop(true);
  expect(notes.filter((reason, at) => reason === notes[at - 1])).toEqual([]);
  expect(notes.length).toBeLessThan(streams.length);
}, 60_000);
