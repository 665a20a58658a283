/** Liveness: a visible process is checked by its pid, every other one is judged by its heartbeat. */
import { describe, expect, onTestFinished, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DEFAULT_SETTINGS } from "../../src/engine/context.ts";
import { Engine } from "../../src/engine/engine.ts";
import { PERSON } from "../../src/engine/launch.ts";
import { Supervisor } from "../../src/engine/supervisor.ts";
import { gate, markerOf, say } from "../../src/hosts/scripted/script.ts";
import { scriptedHost } from "../../src/hosts/scripted/scripted-host.ts";
import { INTERRUPTED } from "../../src/model/evidence.ts";
import { isLive } from "../../src/model/task.ts";
import { systemClock } from "../../src/process/clock.ts";
import { instanceJudge, isAlive, ownIdentity, startByPs } from "../../src/process/liveness.ts";
import { sqliteStore } from "../../src/store/open.ts";
import type { Instance } from "../../src/store/store.ts";
import { eventually } from "../../src/testing/eventually.ts";
import { idle, launch, newWorld, when } from "../engine/engine-bed.ts";

const own: Instance = {
  id: "i",
  ...ownIdentity(),
  beat: 0,
  machine: "",
  leaseLeft: null,
  host: "scripted",
  directory: "/",
  startedAt: 0,
};

test("a visible process is alive as long as its pid has its start time, whatever its heartbeat", () => {
  let at = 0;
  const judge = instanceJudge({ read: () => at });
  for (at of [0, 50_000, 500_000]) expect(judge(own)).toBe(true);
  expect(judge({ ...own, processStart: "1" })).toBe(false);
  expect(isAlive({ ...own, pidNamespace: "" })).toBe(true);
});

test("a process recorded by an earlier version is not checked for what is unknown about it", async () => {
  expect(isAlive({ pid: process.pid, processStart: "", bootId: "", pidNamespace: "" })).toBe(true);
  const child = Bun.spawn(["true"]);
  await child.exited;
  expect(isAlive({ pid: child.pid, processStart: "", bootId: "", pidNamespace: "" })).toBe(false);
});

test.each([
  ["in another pid namespace", { pidNamespace: "pid:[1]" }],
  ["on another boot", { bootId: "another" }],
])("one %s lives until its heartbeat was seen to stand still for a minute", (_, elsewhere) => {
  let at = 0;
  const judge = instanceJudge({ read: () => at });
  const other = { ...own, ...elsewhere, processStart: "1" };
  for (let beat = 0; beat < 20; beat++, at += 14_000) expect(judge({ ...other, beat })).toBe(true);
  const last = { ...other, beat: 20 };
  for (const until = at + 60_000; at < until; at += 10_000) expect(judge(last)).toBe(true);
  expect(judge(last)).toBe(false);
  expect(judge({ ...last, beat: 21 })).toBe(true);
});

test("a process that slept, or has not checked, considers nobody dead", () => {
  let at = 0;
  const judge = instanceJudge({ read: () => at });
  const other = { ...own, pidNamespace: "pid:[1]", beat: 7 };
  expect(judge(other)).toBe(true);
  at += 8 * 3_600_000;
  expect(judge(other)).toBe(true);
  at += 10_000;
  expect(judge({ ...other, beat: 8 })).toBe(true);
});

test("the start time of a process reads the same in every time zone and language", () => {
  const { TZ, LC_ALL } = process.env;
  const read = (zone: string, language: string) => {
    Object.assign(process.env, { TZ: zone, LC_ALL: language });
    return startByPs(process.pid);
  };
  const starts = [read("UTC", "C"), read("Asia/Tokyo", "de_DE.UTF-8"), read("America/New_York", "C")];
  for (const [name, value] of Object.entries({ TZ, LC_ALL })) {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
  expect(starts[0]).toMatch(/\d{4}$/);
  expect(new Set(starts).size).toBe(1);
});

test("an instance that was considered dead registers again, and stops the tasks that were taken over", async () => {
  const world = newWorld();
  const one = await world.side({ beatMs: 200 });
  const parent = world.parent();
  const task = await launch(one, parent, world.script(gate("held"), say("unheard")));
  await one.host.gate("held").reachedBy(1);
  const stopped = idle(one, task.sessionId);
  const two = await world.side();
  world.holdForDead(one.id);
  // One that registers again in the middle of a recovery keeps its tasks until the next.
  await eventually(two.store, async () => {
    await two.supervisor.recover();
    return (await two.store.task(task.id))?.status === "error" ? true : null;
  });
  expect(await two.store.task(task.id)).toMatchObject({ status: "error", run: { error: INTERRUPTED } });
  await stopped;
  expect([one.engine.liveRuns, (await one.host.statuses()).has(task.sessionId)]).toEqual([0, false]);
  await eventually(two.store, async () => {
    const ids = (await two.store.instances()).map(({ id }) => id).toSorted();
    return ids.includes(one.id) ? ids : null;
  });
});

test("an instance that was considered dead keeps the tasks that were not taken over", async () => {
  const world = newWorld();
  const one = await world.side({ beatMs: 10 });
  const task = await launch(one, world.parent(), world.script(gate("held"), say("kept")));
  await one.host.gate("held").reachedBy(1);
  await one.store.endInstance(one.id);
  await eventually(one.store, async () => ((await one.store.instances()).length > 0 ? true : null));
  one.host.gate("held").open();
  expect(await when(one, task, ({ status }) => !isLive(status))).toMatchObject({ run: { result: "kept" } });
});

/** In its own pid namespace if that is allowed; otherwise a process that claims to be. */
function contained(folder: string) {
  const program = [process.execPath, join(import.meta.dir, "contained-process.ts"), folder];
  const unshare = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child"];
  const isAllowed = Bun.which("unshare") !== null && Bun.spawnSync([...unshare, "true"]).exitCode === 0;
  const command = isAllowed ? [...unshare, ...program] : [...program, "pid:[1]"];
  return Bun.spawn(command, { stdin: "pipe", stdout: "pipe", stderr: "inherit" });
}

test("processes in two containers on one data folder leave each other's tasks alone, until one dies", async () => {
  const folder = mkdtempSync(join(tmpdir(), "asyncagents-contained-"));
  const child = contained(folder);
  const store = await sqliteStore({ directory: folder });
  const host = scriptedHost();
  host.script("held", [gate("door"), say("outside")]);
  let sweeps = 0;
  const swept = new Map<number, () => void>();
  const watched = {
    ...store,
    instances: () => {
      swept.get(++sweeps)?.();
      return store.instances();
    },
  };
  const log = { info: () => {}, error: () => {} };
  // Checks are 20 ms apart here: the child's heartbeat may be a second late before it counts as stopped.
  const isAlive = instanceJudge({ staleMs: 1_500 });
  const supervisor = new Supervisor({ store: watched, log, ...systemClock, isAlive, pollMs: 20, beatMs: 20 });
  const engine = new Engine({
    store: watched,
    supervisor,
    host,
    instance: { ...own, id: "ins_outside", host: host.kind },
    settings: { ...DEFAULT_SETTINGS, pollMs: 20 },
    log,
    ...systemClock,
    newId: (prefix) => `${prefix}_outside`,
    wordNotices: () => ({ visible: "told", hidden: "" }),
    reach: () => {},
  });
  onTestFinished(async () => {
    child.kill("SIGKILL");
    supervisor.stop();
    await engine.stop();
    host.crash();
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const reader = child.stdout.getReader();
  const inside = new TextDecoder().decode((await reader.read()).value).trim();
  await engine.start();
  const request = { description: "outside", prompt: markerOf("held"), agent: "general", fork: false, batch: null };
  const outside = await engine.launch(PERSON, request, await engine.checkLaunch(PERSON, request));
  const many = new Promise<void>((resolve) => swept.set(sweeps + 15, resolve));
  await supervisor.recover();
  await many;
  expect(await store.task(inside)).toMatchObject({ status: "running", owner: "ins_contained" });
  expect(await store.task(outside.id)).toMatchObject({ status: "running", owner: "ins_outside" });
  child.kill("SIGKILL");
  await eventually(store, async () => ((await store.task(inside))?.status === "error" ? true : null));
  expect(await store.task(outside.id)).toMatchObject({ status: "running" });
}, 30_000);

describe("an instance with a lease", () => {
  const far = { ...own, machine: "far" };

  /** A judge that has looked for long enough. */
  function steadyJudge() {
    let at = 0;
    const judge = instanceJudge({ machine: "here", read: () => at });
    const look = (after: number, instance: typeof far & { leaseLeft: number }) => {
      at += after;
      return judge(instance);
    };
    for (let looks = 0; looks < 4; looks++) look(5_000, { ...far, leaseLeft: 1 });
    return look;
  }

  test("on another machine lives as long as that, whatever its pid means here", () => {
    const look = steadyJudge();
    expect([look(1, { ...far, leaseLeft: 1 }), look(1, { ...far, leaseLeft: 0 })]).toEqual([true, false]);
    // On this machine the process itself counts.
    const near = { ...own, machine: "here" };
    expect([look(1, { ...near, leaseLeft: 0 }), look(1, { ...near, leaseLeft: 1, processStart: "1" })]).toEqual([
      true,
      false,
    ]);
    // Here, but in a container.
    const contained = { ...near, pidNamespace: "pid:[1]" };
    expect([look(1, { ...contained, leaseLeft: 1 }), look(1, { ...contained, leaseLeft: 0 })]).toEqual([true, false]);
  });

  test("is given time to renew it after nobody could look for a while", () => {
    const look = steadyJudge();
    const over = { ...far, leaseLeft: -20_000 };
    expect([look(60_000, over), look(5_000, over), look(9_999, over), look(1, over)]).toEqual([
      true,
      true,
      true,
      false,
    ]);
  });
});
