/** The engine, its supervisor and the scripted host under a clock that only a test moves. */
import { expect, onTestFinished, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createEngine } from "../../src/engine/create-engine.ts";
import { PERSON } from "../../src/engine/launch.ts";
import { markerOf, pause, say } from "../../src/hosts/scripted/script.ts";
import { scriptedHost } from "../../src/hosts/scripted/scripted-host.ts";
import type { Clock } from "../../src/process/clock.ts";
import { sqliteStore } from "../../src/store/open.ts";

const HOUR = 3_600_000;

/** Stands still until `next`, which moves on to the next timer and calls back. */
function virtualClock(): Clock & { next(): void } {
  const timers = new Set<{ at: number; work: () => void }>();
  let time = 0;
  return {
    now: () => 1_700_000_000_000 + time,
    monotonic: () => time,
    after(ms, work) {
      const timer = { at: time + ms, work };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    next() {
      const [first] = [...timers].sort((one, other) => one.at - other.at);
      if (first === undefined) return;
      timers.delete(first);
      time = first.at;
      first.work();
    },
  };
}

test("a run of an hour, with its polls and heartbeats, takes an hour of the clock that it is given", async () => {
  const directory = mkdtempSync(join(tmpdir(), "asyncagents-virtual-"));
  const store = await sqliteStore({ directory });
  const { next, ...clock } = virtualClock();
  const host = scriptedHost(clock);
  let [ids, polls, beats] = [0, 0, 0];
  const engine = createEngine({
    ...clock,
    store: { ...store, beat: (id) => store.beat(id).finally(() => beats++) },
    host: { ...host, statuses: () => host.statuses().finally(() => polls++) },
    newId: (prefix) => `${prefix}_${++ids}`,
  });
  onTestFinished(async () => {
    await engine.stop();
    host.crash();
    await store.close();
    rmSync(directory, { recursive: true, force: true });
  });
  await engine.start();
  host.script("slow", [pause(HOUR), say("done")]);
  const request = { description: "slow", prompt: markerOf("slow"), agent: "general", fork: false, batch: null };
  const { id } = await engine.launch(PERSON, request, await engine.checkLaunch(PERSON, request));
  let task = await store.task(id);
  while (task?.status === "running") {
    next();
    await new Promise((resolve) => setImmediate(resolve));
    task = await store.task(id);
  }
  expect([task?.status, task?.run.result]).toEqual(["completed", "done"]);
  expect((task?.run.endedAt ?? 0) - (task?.run.startedAt ?? 0)).toBeWithin(HOUR, HOUR + 60_000);
  // A poll is due every 5 s, a heartbeat every 10 s; one that is still being written when time moves on delays the
  // next.
  expect([polls > 300, beats > 150]).toEqual([true, true]);
});
