/**
 * A runner's process: claims queued runs that it can do, and runs them on hosts that it starts itself. A composition
 * root, beside the daemon's. It serves no port: others ask it through the store. On a signal it
 * claims nothing more and waits for its runs; what is left after that is interrupted.
 */
import { hostname } from "node:os";
import manifest from "../../package.json" with { type: "json" };
import { readConfiguration } from "../configuration/configuration.ts";
import { Desk, RUNNER_HOST } from "../engine/desk.ts";
import { Claimer, type RunnerOffer } from "../engine/queue/claimer.ts";
import { RunnerNotes } from "../engine/queue/runner-notes.ts";
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
import type { HostName } from "../protocol/executor-names.ts";
import type { QueueLimits } from "../store/queue/run-queue.ts";
import type { RunnerLack, RunnerRecord } from "../store/runners/records.ts";
import type { Instance } from "../store/store.ts";
import { storeSetting } from "../store/store-setting.ts";
import { type DrainOptions, drained } from "./drain.ts";
import { hostMakers, type NamedMaker } from "./host-makers.ts";
import { limitSettings } from "./limit-settings.ts";
import { openReportingStore } from "./reporting-store.ts";
import { RunFolders } from "./run-folders.ts";
import { reportTasks } from "./runner-report.ts";

/** How much of what it lacks a runner tells others. */
const MOST_LACKS = 20;

export interface RunnerOptions extends DrainOptions {
  /** The data folder. */
  directory: string;
  environment: Record<string, string | undefined>;
  hosts: readonly HostName[];
  labels: readonly string[];
  max: number;
  /** The limits for all runners together. */
  limits: QueueLimits;
  /** Aborted to end it; a second abort of `hurry` ends the waiting, too. */
  ending: AbortSignal;
}

const NO_BOARD = { board: null, assertWorkplace: null, assertRepo: null, maxDepth: undefined };

/** Resolves when the runner has ended. */
export async function runRunnerProcess(options: RunnerOptions): Promise<void> {
  const { directory, environment, say, ending } = options;
  const configuration = readConfiguration({ directory, environment });
  const log = openLog(directory);
  const all = hostMakers({ directory, configuration, environment: { ...environment, [DEPTH_VARIABLE]: "1" }, log });
  const { makers, lacks } = await usable(all, options);
  const { limits, rules, budgets, prices } = limitSettings(configuration);
  const { store, telemetry, problem } = await openReportingStore(directory, configuration, log);
  const machine = storeSetting(configuration.store) === null ? "" : machineOf(directory);
  const isAlive = instanceJudge({ machine });
  const runner = new Runner({ store, log, makers, limits, rules, budgets, prices, machine, isAlive, telemetry });
  const open = (host: string, folder: string) => runner.open(host, folder);
  const desk = new Desk({ store, machine, isAlive, engines: () => runner.engines(), open });
  const instance = runnerInstance(directory, machine);
  const { id } = instance;
  const performer = new CallPerformer({
    ...systemClock,
    store,
    log,
    instances: () => [id, ...runner.engines().map((engine) => engine.instance.id)],
    perform: callPerformance({ overview: new Overview(store), desk, ...NO_BOARD }),
  });
  const offer: RunnerOffer = {
    id,
    name: hostname(),
    hosts: makers.map(({ kind }) => kind),
    labels: options.labels,
    machine,
    max: options.max,
    limits: options.limits,
  };
  const folders = new RunFolders({ store, log, directory, machine, removal: runner });
  const onEntries: Runner["onEntries"] = (listener) => runner.onEntries(listener);
  const claimer = new Claimer({
    ...systemClock,
    store,
    log,
    offer,
    engines: () => runner.engines(),
    open,
    onEntries,
    onEnded: (listener) => runner.onEnded(listener),
    mayAct: () => runner.holdsLease(id),
    folderOf: (claimed) => folders.folderOf(claimed),
  });
  const current = (): RunnerRecord => ({
    ...recordOf(offer, instance.startedAt),
    load: claimer.load,
    lacks: [...lacks, ...claimer.lacks].slice(0, MOST_LACKS),
    state: ending.aborted ? "draining" : "running",
  });
  reportTasks(runner, say);
  const notes = new RunnerNotes({ ...systemClock, store, log, onEntries, current, say });
  try {
    await runner.register(instance);
    performer.start();
    await runner.recover();
    await notes.start();
    folders.start();
    claimer.start();
    log.info("a runner claims queued tasks", { runner: id, hosts: offer.hosts, labels: offer.labels });
    say(greeting(offer, problem));
    await aborted(ending);
    notes.heed();
    await drained({ clock: systemClock, claimer, runner }, options);
  } finally {
    // First: a run that somebody resumes from now on would only be interrupted.
    await performer.stop();
    await claimer.stop();
    await folders.stop();
    await runner.stop();
    await notes.stop();
    await store.close();
    await log.written();
  }
}

/** What does not change while it runs. */
function recordOf({ name: hostname, ...offer }: RunnerOffer, startedAt: number) {
  return { ...offer, hostname, version: manifest.version, startedAt };
}

/** For the runner itself, whether or not it has engines: others ask it to resume what ran here. */
function runnerInstance(directory: string, machine: string): Instance {
  const place = { host: RUNNER_HOST, directory, machine, startedAt: systemClock.now() };
  return { id: makeId("run"), ...ownIdentity(), beat: 0, leaseLeft: null, ...place };
}

interface Usable {
  makers: NamedMaker[];
  lacks: RunnerLack[];
}

/** The makers of the wanted hosts that work here; says what the others lack. */
async function usable(makers: readonly NamedMaker[], { hosts, say }: RunnerOptions): Promise<Usable> {
  const wanted = makers.filter(({ kind }) => hosts.includes(kind));
  const found: NamedMaker[] = [];
  const lacks: RunnerLack[] = [];
  for (const maker of wanted) {
    const problem = await maker.problem();
    if (problem === null) found.push(maker);
    else {
      say(`No tasks for ${maker.kind}: ${problem}`);
      lacks.push({ kind: "host", name: maker.kind, reason: problem });
    }
  }
  if (found.length > 0) return { makers: found, lacks };
  const message = `None of the hosts ${hosts.join(", ")} can be used on this machine. Run \`asyncagents doctor\`.`;
  throw new AsyncAgentsError("host_unavailable", message);
}

/** With the pid of this process: the one of the command that started it may be another. And why nothing is reported. */
function greeting({ id, name, hosts, labels, max }: RunnerOffer, problem: string | null): string {
  const who = `Runner ${id} on ${name} (version ${manifest.version}, pid ${process.pid})`;
  const own = labels.length === 0 ? "no labels" : `labels ${labels.join(", ")}`;
  return `${who}: ${hosts.join(", ")}; ${own}; up to ${max} tasks at once. Ctrl-C ends it.${problem === null ? "" : `\n${problem} Tasks work without telemetry.`}`;
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
