/**
 * Child process: one runner with many live tasks on PostgreSQL, on a scripted host in memory. Each agent pauses and
 * calls a tool, again and again, and never ends. Says how much memory the process has, and how many calls the agents
 * made.
 */
import { heapStats } from "bun:jsc";
import { readFileSync } from "node:fs";
import { call, markerOf, pause, type ScriptedStep } from "../../src/hosts/scripted/script.ts";
import { scriptedHost } from "../../src/hosts/scripted/scripted-host.ts";
import { type PostgresOptions, postgresStore } from "../../src/store/open.ts";
import { answerCalls } from "../child-process.ts";
import { scriptedRunner } from "./scripted-runner.ts";

const SENDERS = 64;
const STEPS = 1_000;
const LOOK_MS = 200;
const STALL_LOOK_MS = 50;
const PROMPT = "Watch the nightly build and report what changes. ".repeat(6);

let runner: Awaited<ReturnType<typeof scriptedRunner>> | null = null;
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
    runner = await scriptedRunner({ store, host, directory, max: tasks });
    watchStalls();
  },
  /** Queues tasks until so many are live; returns how long that took, in ms. */
  async fill({ tasks }: { tasks: number }): Promise<number> {
    const { engine, enqueue } = opened();
    const started = performance.now();
    let next = engine.liveRuns;
    const send = async () => {
      while (next < tasks) {
        const number = next++;
        await enqueue(`watch the build, ${number}`, `${PROMPT}${markerOf(nameOf(number % STEPS))}`);
      }
    };
    await Promise.all(Array.from({ length: SENDERS }, send));
    while (engine.liveRuns < tasks) await Bun.sleep(LOOK_MS);
    return performance.now() - started;
  },
  /** Also begins to look for the next standstill. */
  async state() {
    const { engine } = opened();
    const stall = longestStall;
    Bun.gc(true);
    // The timer that looks for standstills has seen this one.
    await Bun.sleep(2 * STALL_LOOK_MS);
    longestStall = 0;
    const { user, system } = process.cpuUsage();
    return {
      live: engine.liveRuns,
      toolCalls,
      residentBytes: residentBytes(),
      heapBytes: heapStats().heapSize,
      cpuMs: (user + system) / 1_000,
      longestStallMs: stall,
    };
  },
};

export type LiveRunnerCalls = typeof calls;

function opened() {
  if (runner === null) throw new Error("It was not opened.");
  return runner;
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
