/**
 * Plays one seed: people, parents and faults for a while, then peace until everything has come to rest. The checks look
 * at the result. The same options give the same run, step for step.
 */
import { isLive } from "../../src/model/task.ts";
import { checkAll } from "../checks/checks.ts";
import { Requests } from "../checks/requests.ts";
import { DaemonRole } from "../roles/daemon.ts";
import { OpenCodeRole } from "../roles/opencode.ts";
import type { Role } from "../roles/role.ts";
import type { Fault } from "../world/faults.ts";
import { History } from "../world/history.ts";
import { Machine } from "../world/machine.ts";
import type { SharedDatabase } from "../world/shared-database.ts";
import { ACTIONS, planActions } from "./actions.ts";
import { DISASTERS } from "./disasters.ts";
import { type Plan, planOf } from "./plan.ts";
import { Promises } from "./promises.ts";
import { PROJECT, type Stage } from "./stage.ts";

const STORM_MS = 5 * 60_000;
const PEACE_MS = 40 * 60_000;
/** A call of the storm may still arrive that much later. */
const AFTERMATH_MS = 160_000;
/** For so long nothing was left to do. */
const REST_MS = 60_000;
const LOOK_MS = 20_000;
const MAX_STEPS = 200_000;
const DISASTERS_TRIED = 8;

export interface PlayOptions {
  seed: number;
  database: SharedDatabase;
  /** Kinds of faults that do not happen. */
  calm?: ReadonlySet<string>;
  /** Actions that are left out, by their number. */
  without?: ReadonlySet<number>;
  keepHistory?: boolean;
}

export interface Played {
  violations: string[];
  history: string[];
  faults: ReadonlyMap<Fault, number>;
  steps: number;
  actions: number;
  plan: Plan;
}

export async function play(options: PlayOptions): Promise<Played> {
  const { seed, database, calm = new Set(), without = new Set() } = options;
  database.clear();
  const history = new History(options.keepHistory ?? false);
  const machine = new Machine({ seed, database, calm, history });
  const stage = await stageOn(machine, database);
  const violations: string[] = [];
  const onRejection = (thrown: unknown) =>
    violations.push(`a promise was rejected and nobody heard: ${String(thrown)}`);
  process.on("unhandledRejection", onRejection);
  const actions = planActions(machine.random.split("actions"), STORM_MS);
  try {
    for (const [index, { at, name }] of actions.entries()) {
      if (without.has(index)) continue;
      machine.timeline.schedule(at, () => act(stage, index, name));
    }
    const moments = machine.random.split("disasters");
    for (let count = 0; count < DISASTERS_TRIED; count++) {
      for (const kind of Object.keys(DISASTERS) as Fault[]) {
        const random = moments.split(`${kind} ${count}`);
        machine.timeline.schedule(random.whole(0, STORM_MS), () => {
          if (machine.faults.happens(kind)) DISASTERS[kind]?.(stage, random);
        });
      }
    }
    await runUntil(machine, STORM_MS);
    calmDown(stage);
    await rest(stage, violations);
    violations.push(...(await checkAll(stage)));
  } finally {
    process.off("unhandledRejection", onRejection);
  }
  const { faults, timeline } = machine;
  const { counts } = faults;
  const plan = planOf(machine, actions, STORM_MS);
  return { violations, history: history.lines, faults: counts, steps: timeline.steps, actions: actions.length, plan };
}

async function stageOn(machine: Machine, database: SharedDatabase): Promise<Stage> {
  const truth = database.truth();
  const at = { createdAt: 1, updatedAt: 1 };
  await truth.board.addProject({ id: PROJECT, name: "project", ...at });
  const openCodes = [new OpenCodeRole(machine, "opencode-a", "/"), new OpenCodeRole(machine, "opencode-b", "/")];
  const daemon = new DaemonRole(machine);
  const roles: Role[] = [...openCodes, daemon];
  const parents = [0, 1, 2].map(() => ({ id: machine.sessions.add({ title: "parent" }).id, isDeleted: false }));
  return { machine, roles, openCodes, daemon, parents, attempts: [], promises: new Promises(), truth };
}

function act(stage: Stage, index: number, name: string): void {
  const { machine } = stage;
  const random = machine.random.split(`action ${index}`);
  machine.history.add(`action ${index}`, name);
  const work = ACTIONS[name]?.act(stage, random) ?? Promise.resolve();
  machine.forget(`action ${index}`, name, work);
}

async function runUntil({ timeline }: Machine, until: number): Promise<void> {
  while (timeline.steps < MAX_STEPS && (await timeline.step(until)));
}

/** No more faults; everybody is there again, and people answer what is asked. */
function calmDown(stage: Stage): void {
  const { machine, roles } = stage;
  const requests = new Requests();
  machine.history.add("machine", "from now on nothing goes wrong");
  machine.faults.heal();
  machine.fillDisk(false);
  machine.setWallClock(0);
  for (const process of machine.living) {
    process.spare();
    if (process.isFrozen) process.thaw();
  }
  const look = () => {
    for (const role of roles) role.restart();
    void requests.look(stage);
    machine.timeline.schedule(20_000, look);
  };
  look();
}

/** Until nothing is live and nothing is to be told, and a while longer. */
async function rest({ machine, truth, parents }: Stage, violations: string[]): Promise<void> {
  const end = machine.timeline.now + PEACE_MS;
  const isBusy = async () => {
    const { tasks } = await truth.tasks({ status: ["running", "resumed"], limit: 1 });
    if (tasks.some(({ status }) => isLive(status)) || (await truth.launches()).length > 0) return true;
    return (await truth.parentsWithNotices()).some((id) => parents.some((parent) => parent.id === id));
  };
  const isOver = !machine.faults.counts.has("call fails and arrives late");
  let restingSince = machine.timeline.now + (isOver ? 0 : AFTERMATH_MS);
  while (machine.timeline.now < end && machine.timeline.now < restingSince + REST_MS) {
    await runUntil(machine, machine.timeline.now + LOOK_MS);
    if (machine.timeline.steps >= MAX_STEPS) {
      violations.push(`it did not come to rest in ${MAX_STEPS} steps`);
      return;
    }
    if (await isBusy()) restingSince = Math.max(restingSince, machine.timeline.now);
  }
}
