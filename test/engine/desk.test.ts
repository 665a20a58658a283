import { describe, expect, onTestFinished, test } from "bun:test";
import { Desk, type EngineOrInstance } from "../../src/engine/desk.ts";
import type { Engine } from "../../src/engine/engine.ts";
import type { Task } from "../../src/model/task.ts";
import { ownIdentity } from "../../src/process/liveness.ts";
import { sqliteStore } from "../../src/store/open.ts";
import type { Instance } from "../../src/store/store.ts";
import { completed, create, resumed } from "../../src/testing/sample-task.ts";
import { temporaryFolders } from "../store/temporary-folder.ts";
import { codeOf } from "./engine-bed.ts";

const temporaryFolder = temporaryFolders();
const HERE = process.pid;
const CONTAINER = { pidNamespace: "pid:[of a container]" };

/** A desk over engines of this process, beside other instances of the same store; those named dead are not alive. */
async function deskWith(own: Partial<Instance>[], others: Partial<Instance>[] = [], opens = false) {
  const store = await sqliteStore({ directory: temporaryFolder() });
  onTestFinished(() => store.close());
  const filled = (fields: Partial<Instance>): Instance => ({
    ...ownIdentity(),
    beat: 0,
    machine: "",
    leaseLeft: null,
    startedAt: 1,
    id: "own",
    host: "scripted",
    directory: "/a",
    ...fields,
  });
  for (const each of [...own, ...others]) await store.addInstance(filled(each));
  const engineOf = (fields: Partial<Instance>) => ({ instance: filled(fields) }) as Engine;
  const engines = own.map(engineOf);
  const open = async (host: string, directory: string) => engineOf({ id: "opened", host, directory });
  const isAlive = ({ id }: Instance) => !id.startsWith("dead");
  const desk = new Desk({ store, engines: () => engines, isAlive, ...(opens && { open }) });
  return { store, desk, task: (fields = {}): Promise<Task> => create(store, "t", { directory: "/a", ...fields }) };
}

/** The id of the engine here, or the pid of the instance's process. */
function shown(place: EngineOrInstance): string | number {
  return "engine" in place ? place.engine.instance.id : place.instance.pid;
}

describe("a launch", () => {
  test("without a directory runs in the only open one", async () => {
    const one = await deskWith([{ id: "a" }]);
    expect(shown(await one.desk.placeOfLaunch(null))).toBe("a");
    const two = await deskWith([{ id: "a" }, { id: "b", directory: "/b" }], [], true);
    await expect(two.desk.placeOfLaunch(null)).rejects.toThrow("directory is missing: one of /a, /b.");
    const none = await deskWith([], [], true);
    await expect(none.desk.placeOfLaunch(null)).rejects.toThrow("directory is missing: none is open yet.");
  });

  test("runs where its directory is open: here, or else in another live process with the same folders", async () => {
    const others = [
      { id: "dead", directory: "/c", pid: 1 },
      { id: "far", directory: "/c", pid: 2, ...CONTAINER },
      { id: "other", directory: "/c", pid: 3 },
      { id: "same", directory: "/b", pid: 4 },
    ];
    const { desk } = await deskWith([{ id: "a" }, { id: "b", directory: "/b" }], others);
    expect(shown(await desk.placeOfLaunch("/b"))).toBe("b");
    expect(shown(await desk.placeOfLaunch("/c"))).toBe(3);
  });

  test("on a host runs here, and opens the host if needed; a path that is not a folder is rejected", async () => {
    const { desk } = await deskWith([{ id: "a" }], [{ id: "other", directory: "/tmp", pid: 3 }], true);
    expect(shown(await desk.placeOfLaunch("/a", "scripted"))).toBe("a");
    expect(shown(await desk.placeOfLaunch("/tmp", "claude"))).toBe("opened");
    expect(await desk.placeOfLaunch("/", null)).toMatchObject({ engine: { instance: { host: "opencode" } } });
    await expect(desk.placeOfLaunch("/no/such/folder", "claude")).rejects.toThrow("does not exist");
    await expect(desk.placeOfLaunch("tmp", "claude")).rejects.toThrow("is not an absolute path");
    const closed = await deskWith([{ id: "a" }]);
    expect(await codeOf(closed.desk.placeOfLaunch("/tmp"))).toBe("host_unavailable");
  });
});

describe("an answer goes to the process that runs the task", () => {
  test.each<[string, Partial<Instance>[], string | number]>([
    ["here", [], "own"],
    ["in another process", [{ id: "other", pid: 3 }], 3],
    ["in a container", [{ id: "far", pid: 3, ...CONTAINER }], 3],
  ])("%s", async (_, others, place) => {
    const { desk, task } = await deskWith([{ id: "own" }], others);
    expect(shown(await desk.placeOfAnswer(await task({ owner: others[0]?.id ?? "own" })))).toBe(place);
  });

  test("and to nobody if that process is dead, or the task has ended", async () => {
    const dead = await deskWith([{ id: "own" }], [{ id: "dead", pid: 3 }]);
    expect(await codeOf(dead.desk.placeOfAnswer(await dead.task({ owner: "dead" })))).toBe("nothing_asked");
    const { desk, store, task } = await deskWith([{ id: "own" }], [{ id: "other", pid: 3 }]);
    await store.apply((await task({ owner: "other" })).id, completed(2));
    expect(await codeOf(desk.placeOfAnswer((await store.task("t")) as Task))).toBe("nothing_asked");
  });
});

describe("a parent is notified", () => {
  const own = { id: "own", pid: HERE };
  test.each<[string, string | null, Partial<Instance>[], Partial<Instance>[], string | number]>([
    ["by its handler here", "own", [{ ...own, id: "first" }, own], [], "own"],
    ["by its handler in another process", "other", [own], [{ id: "other", pid: 3 }], 3],
    ["by its handler in a container", "far", [own], [{ id: "far", pid: 3, ...CONTAINER }], 3],
    ["by any of its host here, where the handler died", "dead", [own], [{ id: "dead", pid: 3 }], "own"],
    [
      "by another process of its host, before one is opened",
      "dead",
      [{ ...own, host: "claude" }],
      [{ id: "other", pid: 3 }],
      3,
    ],
    [
      "by one that is opened for it",
      "dead",
      [{ ...own, host: "claude" }],
      [{ id: "far", pid: 3, ...CONTAINER }],
      "opened",
    ],
  ])("%s", async (_, handler, engines, others, place) => {
    const { desk, store, task } = await deskWith(engines, others, true);
    const parent = { sessionId: "parent", host: "scripted", handler, seenAt: 1, machine: "" };
    await store.putParent({ ...parent, agent: null, model: null, variant: null });
    expect(shown(await desk.placeOfTelling(await task(), { mayOpen: true }))).toBe(place);
  });
});

describe("a resume runs in the task's own directory and host", () => {
  test.each<[string, Partial<Instance>[], Partial<Instance>[], string | number]>([
    ["here", [{ id: "b", directory: "/b" }, { id: "a" }], [{ id: "other", pid: 3 }], "a"],
    [
      "in another process",
      [{ id: "b", directory: "/b" }],
      [
        { id: "c", host: "claude", pid: 2 },
        { id: "other", pid: 3 },
      ],
      3,
    ],
    ["in one that is opened", [{ id: "c", host: "claude" }], [{ id: "d", directory: "/d", pid: 3 }], "opened"],
    ["in the container that it was in", [{ id: "a" }], [{ id: "last", pid: 3, ...CONTAINER }], 3],
    ["not in a container that it was not in", [], [{ id: "far", pid: 3, ...CONTAINER }], "opened"],
    ["never in the daemon's own instance", [], [{ id: "last", host: "daemon", pid: 3 }], "opened"],
  ])("%s", async (_, own, others, place) => {
    const { desk, task } = await deskWith(own, others, true);
    expect(shown(await desk.placeOfResume(await task({ owner: "last" })))).toBe(place);
  });
});

describe("a conversation is read", () => {
  test.each<[string, string, Partial<Instance>[], Partial<Instance>[], (string | number)[]]>([
    ["where the task is driven: here", "b", [{ id: "a" }, { id: "b", directory: "/b" }], [], ["b"]],
    [
      "where the task is driven, then here, then in another process of its directory",
      "driver",
      [{ id: "b", directory: "/b" }, { id: "a" }],
      [
        { id: "driver", pid: 3 },
        { id: "c", host: "claude", pid: 4 },
      ],
      [3, "a"],
    ],
    [
      "in another process of its directory, better than in one of another",
      "dead",
      [{ id: "c", host: "claude" }],
      [
        { id: "x", directory: "/x", pid: 3 },
        { id: "y", pid: 4 },
        { id: "dead", pid: 5 },
      ],
      [4],
    ],
    ["by any of its host", "dead", [{ id: "b", directory: "/b" }], [{ id: "x", directory: "/x", pid: 3 }], ["b", 3]],
    [
      "in a container, where the task was driven",
      "far",
      [{ id: "a" }],
      [{ id: "far", pid: 3, ...CONTAINER }],
      [3, "a"],
    ],
    ["by one that is opened for it", "dead", [], [{ id: "far", pid: 3, ...CONTAINER }], ["opened"]],
  ])("%s", async (_, owner, own, others, places) => {
    const { desk, task } = await deskWith(own, others, true);
    expect((await desk.placesOfMessages(await task({ owner }), { mayOpen: true })).map(shown)).toEqual(places);
  });
});

describe("for those who may not have a host opened", () => {
  const never = { mayOpen: false };

  test("a conversation is read, and a parent told, only where the host is open", async () => {
    const closed = await deskWith([{ id: "c", host: "claude" }], [], true);
    const task = await closed.task({ owner: "dead" });
    expect(await codeOf(closed.desk.placesOfMessages(task, never))).toBe("host_unavailable");
    expect(await codeOf(closed.desk.placeOfTelling(task, never))).toBe("host_unavailable");
    const open = await deskWith([{ id: "a", directory: "/b" }], [], true);
    const other = await open.task({ owner: "dead" });
    expect((await open.desk.placesOfMessages(other, never)).map(shown)).toEqual(["a"]);
    expect(shown(await open.desk.placeOfTelling(other, never))).toBe("a");
  });

  test("a cancel is requested in the store, where whoever drives the task, or takes it over, finds it", async () => {
    const { desk, store, task } = await deskWith([], [], true);
    const live = await task({ owner: "dead" });
    const asked = await desk.cancel(live, never);
    expect([asked.status, asked.cancelRequestedAt]).toEqual(["running", expect.any(Number)]);
    const { task: ended } = await store.apply(live.id, completed(5));
    expect(await codeOf(desk.cancel(ended ?? live, never))).toBe("task_not_live");
  });

  test("a cancel of a run that waited for a runner does not stop the next one", async () => {
    const { desk, store, task } = await deskWith([], [], true);
    const waiting = await task({ sessionId: "", messageId: "", owner: null });
    const { agent, model } = waiting;
    const claim = { directory: "/a", agent, model, messageId: "prompt", owner: "runner" };
    await store.apply("t", { type: "task.claimed", at: 2, run: 0, sessionId: "s", ...claim });
    await store.apply("t", completed(3));
    await store.apply("t", resumed(4));
    const { run, status, cancelRequestedAt } = await desk.cancel(waiting, never);
    expect([run.number, status, cancelRequestedAt]).toEqual([1, "resumed", null]);
  });
});
