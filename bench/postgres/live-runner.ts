/**
 * Child process: one runner with many live tasks on PostgreSQL, composed as `asyncagents runner`, on a scripted host in
 * memory. Each agent pauses and calls a tool, again and again, and never ends. Says how much memory the process has, and
 * how many calls the agents made.
 */
import { heapStats } from "bun:jsc";
import { readFileSync } from "node:fs";
import { PERSON } from "../../src/engine/launch.ts";
import { Claimer } from "../../src/engine/queue/claimer.ts";
import { enqueueTask } from "../../src/engine/queue/enqueue.ts";
import { Runner } from "../../src/engine/runner.ts";
import { call, markerOf, pause, type ScriptedStep } from "../../src/hosts/scripted/script.ts";
import { scriptedHost } from "../../src/hosts/scripted/scripted-host.ts";
import { systemClock } from "../../src/process/clock.ts";
import { instanceJudge } from "../../src/process/liveness.ts";
import { makeId } from "../../src/process/make-id.ts";
import { type PostgresOptions, postgresStore } from "../../src/store/open.ts";
import type { Store } from "../../src/store/store.ts";
import { answerCalls } from "../child-process.ts";

const MACHINE = "mac_bench";
const SENDERS = 64;
const STEPS = 1_000;
const LOOK_MS = 200;
const STALL_LOOK_MS = 50;
const PROMPT = "Watch the nightly build and report what changes. ".repeat(6);
const log = {
  info() {},
  error: (message: string, details?: object) => console.error(message, details ?? ""),
};

let bed: { store: Store; runner: Runner; directory: string } | null = null;
let toolCalls = 0;
let longestStall = 0;

const calls = {
  async open(input: { postgres: PostgresOptions; directory: string; tasks: number; everyMs: number }): Promise<void> {
    const { postgres, directory, tasks, everyMs } = input;
    const store = await postgresStore(postgres);
    const host = scriptedHost();
    for (let number = 0; number < STEPS; number++) host.script(nameOf(number), steps(everyMs, number / STEPS));
    host.onEvent(({ type }) => {
      if (type === "tool.called") toolCalls++;
    });
    const nothing = async () => {};
    const maker = {
      kind: "scripted",
      problem: async () => null,
      open: async () => ({ host, close: nothing }),
      stop: nothing,
    };
    const isAlive = instanceJudge({ machine: MACHINE });
    const runner = new Runner({ store, log, makers: [maker], machine: MACHINE, isAlive });
    await runner.open("scripted", directory);
    const offer = { id: makeId("run"), hosts: ["scripted"], labels: [], machine: MACHINE, max: tasks, limits: {} };
    new Claimer({
      ...systemClock,
      store,
      log,
      offer,
      engines: () => runner.engines(),
      open: (kind, folder) => runner.open(kind, folder),
      onEntries: (listener) => runner.onEntries(listener),
      onEnded: (listener) => runner.onEnded(listener),
      folderOf: async ({ task }) => task.directory,
    }).start();
    bed = { store, runner, directory };
    watchStalls();
  },
  /** Queues tasks until so many are live; returns how long that took, in ms. */
  async fill({ tasks }: { tasks: number }): Promise<number> {
    const { store, runner, directory } = opened();
    const context = { store, machine: MACHINE, now: systemClock.now, newId: makeId };
    const started = performance.now();
    let next = live(runner);
    const send = async () => {
      while (next < tasks) {
        const number = next++;
        await enqueueTask(context, PERSON, {
          host: "scripted",
          agent: "",
          description: `watch the build, ${number}`,
          prompt: `${PROMPT}${markerOf(nameOf(number % STEPS))}`,
          batch: null,
          folder: { directory, source: null },
          choices: {},
        });
      }
    };
    await Promise.all(Array.from({ length: SENDERS }, send));
    while (live(runner) < tasks) await Bun.sleep(LOOK_MS);
    return performance.now() - started;
  },
  /** Also begins to look for the next standstill. */
  async state() {
    const { runner } = opened();
    const stall = longestStall;
    Bun.gc(true);
    // The timer that looks for standstills has seen this one.
    await Bun.sleep(2 * STALL_LOOK_MS);
    longestStall = 0;
    return {
      live: live(runner),
      toolCalls,
      residentBytes: residentBytes(),
      heapBytes: heapStats().heapSize,
      cpuMs: process.cpuUsage().user / 1_000 + process.cpuUsage().system / 1_000,
      longestStallMs: stall,
    };
  },
};

export type LiveRunnerCalls = typeof calls;

function opened() {
  if (bed === null) throw new Error("It was not opened.");
  return bed;
}

function live(runner: Runner): number {
  return runner.engines().reduce((sum, { liveRuns }) => sum + liveRuns, 0);
}

function nameOf(number: number): string {
  return `work-${number}`;
}

/** The first pause differs from task to task, so that the calls of all are spread evenly. */
function steps(everyMs: number, share: number): ScriptedStep[] {
  const rounds = Array.from({ length: STEPS }, (_, number) => [
    pause(everyMs),
    call("bash", { output: `line ${number}` }),
  ]);
  return [pause(Math.round(everyMs * share)), ...rounds.flat()];
}

/** How long the process could not do anything. */
function watchStalls(): void {
  let last = performance.now();
  setInterval(() => {
    const now = performance.now();
    longestStall = Math.max(longestStall, now - last - STALL_LOOK_MS);
    last = now;
  }, STALL_LOOK_MS);
}

function residentBytes(): number {
  const kilobytes = /VmRSS:\s+(\d+)/.exec(readFileSync("/proc/self/status", "utf8"))?.[1];
  return kilobytes === undefined ? process.memoryUsage.rss() : Number(kilobytes) * 1_024;
}

answerCalls(calls);
