/**
 * Plays one seed: people, parents and faults for a while, then peace until everything has come to rest. The checks look
 * at the result. The same options give the same run, step for step.
 */
import { waitingForNobody } from "../checks/after.ts";
import { checkAll } from "../checks/checks.ts";
import { forgottenInstances } from "../checks/growth.ts";
import { Requests } from "../checks/requests.ts";
import { WaitingRuns } from "../checks/runners.ts";
import { DaemonRole } from "../roles/daemon.ts";
import { fleetOf } from "../roles/fleet.ts";
import { OpenCodeRole } from "../roles/opencode.ts";
import type { Role } from "../roles/role.ts";
import { RunnerRole } from "../roles/runner.ts";
import { LEASE_MS } from "../time/promised.ts";
import { stopRealClocks } from "../time/real-clocks.ts";
import type { Fault } from "../world/faults.ts";
import { History } from "../world/history.ts";
import { Machine } from "../world/machine.ts";
import { QueueWatch } from "../world/queue-watch.ts";
import type { SharedDatabase } from "../world/shared-database.ts";
import { ACTIONS } from "./actions.ts";
import { DISASTERS } from "./disasters.ts";
import { FLEET_ACTIONS } from "./fleet-actions.ts";
import { type PlannedMoment, planMoments } from "./moments.ts";
import { type Plan, planOf } from "./plan.ts";
import { Promises } from "./promises.ts";
import { PROJECT, type Stage } from "./stage.ts";

const STORM_MS = 5 * 60_000;
const PEACE_MS = 40 * 60_000;
/** Runs that wait for each other take longer. */
const QUEUE_PEACE_MS = 2 * PEACE_MS;
/** A run that waits for its provider goes on at a time of the day: later, if the clock was set back meanwhile. */
const CLOCKS_MS = 3 * 3_600_000;
/** A call of the storm may still arrive that much later. */
const AFTERMATH_MS = 160_000;
/** For so long nothing was left to do: a call may fail for 30 s, and be tried again after a minute. */
const REST_MS = 95_000;
const LOOK_MS = 20_000;
/** Others look for the dead every few seconds, if they have not had trouble themselves for half a lease. */
const TAKEOVER_MS = 35_000;
/** A recovery that began in the storm may wait for its last call, and the next one is made after a pause. */
const SLOW_TAKEOVER_MS = 80_000;
const HOLDS_UP_RECOVERY: readonly Fault[] = ["call fails", "call is slow", "host does not answer", "query is slow"];
const MAX_STEPS = 200_000;

export interface PlayOptions {
  seed: number;
  database: SharedDatabase;
  /** Kinds of faults that do not happen. */
  calm?: ReadonlySet<string>;
  /** Planned moments that are left out, by their number. */
  without?: ReadonlySet<number>;
  /** How long things go wrong; five minutes when absent. What is planned for later does not happen. */
  stormMs?: number;
  /** A seed that takes more steps fails. */
  maxSteps?: number;
  keepHistory?: boolean;
}

export interface Played {
  violations: string[];
  history: string[];
  /** How often each kind of fault happened. */
  faults: ReadonlyMap<Fault, number>;
  /** How often each action of people and parents happened. */
  actions: ReadonlyMap<string, number>;
  steps: number;
  /** How many moments were planned. */
  planned: number;
  plan: Plan;
}

export async function play(options: PlayOptions): Promise<Played> {
  const { seed, database, calm = new Set(), without = new Set(), stormMs = STORM_MS, maxSteps = MAX_STEPS } = options;
  database.clear();
  const history = new History(options.keepHistory ?? false);
  const machine = new Machine({ seed, database, calm, history });
  const { timeline, faults } = machine;
  const stage = await stageOn(machine, database);
  const actions = new Map<string, number>();
  const violations: string[] = [];
  const moments = planMoments(machine.random, faults, STORM_MS, stage.queue !== null);
  const onRejection = (thrown: unknown) =>
    violations.push(`a promise was rejected and nobody heard: ${String(thrown)}${placeOf(thrown)}`);
  process.on("unhandledRejection", onRejection);
  const clocks = stopRealClocks();
  try {
    for (const [index, moment] of moments.entries()) {
      if (without.has(index) || moment.at > stormMs) continue;
      timeline.schedule(moment.at, () => {
        if (moment.is === "disaster") return begin(stage, index, moment);
        actions.set(moment.name, (actions.get(moment.name) ?? 0) + 1);
        act(stage, index, moment);
      });
    }
    await runUntil(machine, stormMs, maxSteps);
    calmDown(stage);
    if (!(await rest(stage, maxSteps))) violations.push(`it did not come to rest in ${maxSteps} steps`);
    violations.push(...(await checkAll(stage)));
  } finally {
    clocks.restore();
    process.off("unhandledRejection", onRejection);
  }
  violations.push(...clocks.uses.map((use) => `something used the time or the chance of the real machine: ${use}`));
  return {
    violations,
    history: history.lines,
    faults: faults.counts,
    actions,
    steps: timeline.steps,
    planned: moments.length,
    plan: planOf(
      machine,
      moments.filter(({ is }) => is === "action").map(({ at, name }) => ({ at, name })),
      STORM_MS,
    ),
  };
}

async function stageOn(machine: Machine, database: SharedDatabase): Promise<Stage> {
  const truth = database.truth();
  const at = { createdAt: 1, updatedAt: 1 };
  await truth.board.addProject({ id: PROJECT, name: "project", ...at });
  const promises = new Promises();
  const fleet = fleetOf(machine.random);
  // Before anybody writes.
  const queue = fleet && new QueueWatch(machine, database, fleet, promises.asked);
  const openCodes = [new OpenCodeRole(machine, "opencode-a", "/"), new OpenCodeRole(machine, "opencode-b", "/")];
  const daemon = new DaemonRole(machine);
  const runners = fleet?.members.map((member) => new RunnerRole(machine, fleet, member)) ?? [];
  const roles: Role[] = [...openCodes, daemon, ...runners];
  const parents = ["opencode-a", "opencode-a", "opencode-b"].map((role) => {
    const place = machine.places.ofRole(role);
    return { id: machine.places.sessions(place, "opencode").add({ title: "parent" }).id, place, isDeleted: false };
  });
  return { machine, roles, openCodes, daemon, runners, queue, parents, attempts: [], promises, truth };
}

function act(stage: Stage, index: number, { name, random }: PlannedMoment): void {
  const { machine } = stage;
  machine.history.add(`action ${index}`, name);
  machine.forget(`action ${index}`, name, actionOf(name)?.act(stage, random) ?? Promise.resolve());
}

function actionOf(name: string) {
  return ACTIONS[name] ?? FLEET_ACTIONS[name];
}

function begin(stage: Stage, index: number, { name, random }: PlannedMoment): void {
  stage.machine.history.add(`disaster ${index}`, `${name}: from now on`);
  DISASTERS[name as Fault]?.(stage, random);
}

/** What a timer or an event throws reaches nobody: a real process would end. */
async function runUntil({ timeline, broken }: Machine, until: number, maxSteps: number): Promise<void> {
  for (let isMore = true; isMore && timeline.steps < maxSteps; ) {
    try {
      isMore = await timeline.step(until);
    } catch (thrown) {
      broken.push(`an error was thrown, and nobody caught it: ${String(thrown)}${placeOf(thrown)}`);
    }
  }
}

/** No more faults; everybody is there again, and people answer what is asked. */
function calmDown(stage: Stage): void {
  const { machine, roles } = stage;
  const requests = new Requests();
  const waiting = new WaitingRuns();
  machine.history.add("machine", "from now on nothing goes wrong");
  machine.heal();
  for (const process of machine.living) {
    process.spare();
    if (process.isFrozen) process.thaw();
  }
  const look = () => {
    for (const role of roles) role.restart();
    void requests.look(stage);
    void waiting.look(stage);
    machine.timeline.schedule(20_000, look);
  };
  look();
  const { faults, timeline, settings } = machine;
  // Without leases, a heartbeat that stands still has to be watched for a while first.
  const isSlow = !machine.places.areSeveral || HOLDS_UP_RECOVERY.some((kind) => faults.has(kind));
  const takeoverMs = isSlow ? SLOW_TAKEOVER_MS : TAKEOVER_MS;
  const since = timeline.now;
  timeline.schedule(LEASE_MS + settings.pollMs + takeoverMs, () => void assertTakenOver(stage, since));
}

/** What the dead had when peace began, others have taken over by now. */
async function assertTakenOver({ machine, truth, promises }: Stage, since: number): Promise<void> {
  const isDead = (owner: string | null) => {
    const diedAt = machine.deaths.get(machine.instances.get(owner ?? "")?.name ?? "");
    return diedAt !== undefined && diedAt <= since;
  };
  const { tasks } = await truth.tasks({ status: ["running", "resumed"], limit: 200 });
  for (const { id, owner, phase } of tasks) {
    // What waits for its provider is left until its time has come.
    if (phase !== "paused" && isDead(owner))
      promises.broken.push(`nobody took ${id} over from ${owner}, which is dead`);
  }
}

/**
 * Until nothing is live, nothing is to be told and the dead were noticed, and a while longer. False if that takes too
 * many steps.
 */
async function rest(stage: Stage, maxSteps: number): Promise<boolean> {
  const { machine, truth, parents } = stage;
  const { timeline } = machine;
  const latest = timeline.now + CLOCKS_MS;
  let end = timeline.now + (stage.queue === null ? PEACE_MS : QUEUE_PEACE_MS);
  const isBusy = async () => {
    const { tasks } = await truth.tasks({ status: ["running", "resumed"], limit: 200 });
    const arePaused = tasks.some(({ phase }) => phase === "paused");
    if (arePaused) end = Math.min(latest, Math.max(end, timeline.now + PEACE_MS));
    const lost = await waitingForNobody(stage, tasks);
    if (tasks.some(({ id }) => !lost.has(id)) || (await truth.launches()).length > 0) return true;
    if (
      (await truth.parentsWithNotices()).some((id) =>
        parents.some((parent) => parent.id === id && !machine.places.isLost(parent.place)),
      )
    )
      return true;
    return (await forgottenInstances(stage)).length > 0;
  };
  const isOver = !machine.faults.counts.has("call fails and arrives late");
  let restingSince = timeline.now + (isOver ? 0 : AFTERMATH_MS);
  while (timeline.now < end && timeline.now < restingSince + REST_MS) {
    await runUntil(machine, timeline.now + LOOK_MS, maxSteps);
    if (timeline.steps >= maxSteps) return false;
    if (await isBusy()) restingSince = Math.max(restingSince, timeline.now);
  }
  return true;
}

/** Where it was thrown in our code, for somebody who looks for it. */
function placeOf(thrown: unknown): string {
  const place = thrown instanceof Error ? thrown.stack?.match(/\b(?:src|simulation)\/[\w./-]+:\d+/)?.[0] : undefined;
  return place === undefined ? "" : ` (${place})`;
}
