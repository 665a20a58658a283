/**
 * A runner's process: claims queued runs that it can do, and runs them on hosts that it starts itself. A composition
 * root, beside the daemon's. It serves no port: others ask it through the store. On a signal it
 * claims nothing more and waits for its runs; what is left after that is interrupted.
 */
import { hostname } from "node:os";
import manifest from "../../package.json" with { type: "json" };
import { Desk, RUNNER_HOST } from "../engine/desk.ts";
import { Claimer, type RunnerOffer } from "../engine/queue/claimer.ts";
import { CallPerformer } from "../engine/remote/call-performer.ts";
import { Runner } from "../engine/runner.ts";
import { Overview } from "../engine/watching/overview.ts";
import { callPerformance } from "../http/handlers/perform-call.ts";
import { AsyncAgentsError } from "../model/errors.ts";
import { systemClock } from "../process/clock.ts";
import { openLog } from "../process/data-folder.ts";
import { instanceJudge, ownIdentity } from "../process/liveness.ts";
import { machineOf } from "../process/machine.ts";
import { makeId } from "../process/make-id.ts";
import { DEPTH_VARIABLE } from "../protocol/call-origin.ts";
import { openStore } from "../store/open.ts";
import type { QueueLimits } from "../store/queue/run-queue.ts";
import type { Instance } from "../store/store.ts";
import { storeSetting } from "../store/store-setting.ts";
import { hostMakers, type NamedMaker } from "./host-makers.ts";
import { limitSettings } from "./limit-settings.ts";

export interface RunnerOptions {
  /** The data folder. */
  directory: string;
  environment: Record<string, string | undefined>;
  hosts: readonly string[];
  labels: readonly string[];
  max: number;
  /** The limits for all runners together. */
  limits: QueueLimits;
  /** How long to wait for runs at the end. */
  drainMs: number;
  /** Gets each line that a person should read. */
  say(line: string): void;
  /** Aborted to end it; a second abort of `hurry` ends the waiting, too. */
  ending: AbortSignal;
  hurry: AbortSignal;
}

/** Resolves when the runner has ended. */
export async function runRunnerProcess(options: RunnerOptions): Promise<void> {
  const { directory, environment, say, ending } = options;
  const log = openLog(directory);
  const all = hostMakers({ directory, environment: { ...environment, [DEPTH_VARIABLE]: "1" }, log });
  const makers = await usable(all, options);
  const { limits } = limitSettings(environment, log);
  const store = await openStore({ directory, environment, log: (line) => log.info(line) });
  const machine = storeSetting(environment) === null ? "" : machineOf(directory);
  const isAlive = instanceJudge({ machine });
  const runner = new Runner({ store, log, makers, limits, machine, isAlive });
  const open = (host: string, folder: string) => runner.open(host, folder);
  const desk = new Desk({ store, machine, isAlive, engines: () => runner.engines(), open });
  const instance = runnerInstance(directory, machine);
  const { id } = instance;
  const performer = new CallPerformer({
    ...systemClock,
    store,
    log,
    instances: () => [id, ...runner.engines().map((engine) => engine.instance.id)],
    perform: callPerformance({
      overview: new Overview(store),
      desk,
      board: null,
      assertWorkplace: null,
      maxDepth: undefined,
    }),
  });
  const offer: RunnerOffer = {
    id,
    hosts: makers.map(({ kind }) => kind),
    labels: options.labels,
    machine,
    max: options.max,
    limits: options.limits,
  };
  const claimer = new Claimer({
    ...systemClock,
    store,
    log,
    offer,
    engines: () => runner.engines(),
    open,
    onEntries: (listener) => runner.onEntries(listener),
    onEnded: (listener) => runner.onEnded(listener),
    folderOf: async ({ task }) => task.directory,
  });
  try {
    await runner.register(instance);
    performer.start();
    await runner.recover();
    claimer.start();
    log.info("a runner claims queued tasks", { runner: id, hosts: offer.hosts, labels: offer.labels });
    say(`Runner ${id} on ${hostname()} (version ${manifest.version}): ${described(offer)}. Ctrl-C ends it.`);
    await aborted(ending);
    await drained(claimer, runner, options);
  } finally {
    await claimer.stop();
    await performer.stop();
    await runner.stop();
    await store.close();
    await log.written();
  }
}

/** For the runner itself, whether or not it has engines: others ask it to resume what ran here. */
function runnerInstance(directory: string, machine: string): Instance {
  const place = { host: RUNNER_HOST, directory, machine, startedAt: systemClock.now() };
  return { id: makeId("run"), ...ownIdentity(), beat: 0, leaseLeft: null, ...place };
}

/** The makers of the wanted hosts that work here; says what the others lack. */
async function usable(makers: readonly NamedMaker[], { hosts, say }: RunnerOptions): Promise<NamedMaker[]> {
  const wanted = makers.filter(({ kind }) => hosts.includes(kind));
  const found: NamedMaker[] = [];
  for (const maker of wanted) {
    const problem = await maker.problem();
    if (problem === null) found.push(maker);
    else say(`No tasks for ${maker.kind}: ${problem}`);
  }
  if (found.length > 0) return found;
  const message = `None of the hosts ${hosts.join(", ")} can be used on this machine. Run \`asyncagents doctor\`.`;
  throw new AsyncAgentsError("host_unavailable", message);
}

function described({ hosts, labels, max }: RunnerOffer): string {
  const own = labels.length === 0 ? "no labels" : `labels ${labels.join(", ")}`;
  return `${hosts.join(", ")}; ${own}; up to ${max} tasks at once`;
}

async function drained(claimer: Claimer, runner: Runner, { drainMs, say, hurry }: RunnerOptions): Promise<void> {
  claimer.drain();
  const deadline = systemClock.monotonic() + drainMs;
  for (let told = -1; claimer.load > 0 && !hurry.aborted; ) {
    const left = deadline - systemClock.monotonic();
    if (left <= 0)
      return say(`${counted(claimer.load)} did not end in time and ${claimer.load === 1 ? "is" : "are"} interrupted.`);
    if (told !== claimer.load) {
      const where = runner.engines().filter(({ liveRuns }) => liveRuns > 0);
      const places = where.map(({ instance, liveRuns }) => `${liveRuns} in ${instance.directory}`).join(", ");
      told = claimer.load;
      say(
        `Claims nothing more; waits up to ${Math.ceil(left / 1000)} s for ${counted(told)} (${places || "starting"}).`,
      );
    }
    await pauseUntil(runner, hurry, Math.min(left, 1000));
  }
}

function counted(tasks: number): string {
  return tasks === 1 ? "1 task" : `${tasks} tasks`;
}

/** Until something happened to a task, at most that long. */
function pauseUntil(runner: Runner, signal: AbortSignal, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      stop();
      cancel();
      signal.removeEventListener("abort", done);
      resolve();
    };
    const stop = runner.onEntries(done);
    const cancel = systemClock.after(ms, done);
    signal.addEventListener("abort", done, { once: true });
  });
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
