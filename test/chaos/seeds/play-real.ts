/**
 * Plays a seed of the simulator on real programs: its actions and its disasters at their moments, in a fifteenth of the
 * time, or in twice that on a busy machine; then everybody is started again, and after a while nothing may be left to
 * do. A failure is told in words.
 */
import { join } from "node:path";
import type { Plan } from "../../../simulation/scenario/plan.ts";
import { play } from "../../../simulation/scenario/play.ts";
import type { Fault } from "../../../simulation/world/faults.ts";
import type { Incident } from "../../../simulation/world/machine.ts";
import { SharedDatabase } from "../../../simulation/world/shared-database.ts";
import { messageOf } from "../../../src/model/errors.ts";
import { lastLines, logTail } from "../../../src/testing/opencode/process.ts";
import { actFor, openRequests } from "./real-actions.ts";
import { checkReal } from "./real-checks.ts";
import { RealStage } from "./real-stage.ts";

const REST_MS = 150_000;
const LOOK_MS = 500;
const TICK_MS = 50;
const SLOW = 8;
/** The machine may sleep for ten minutes. */
const LONGEST_FREEZE_MS = 10_000;
const LOG_LINES = 60;
/** What the store of a real process cannot be made to do from outside. */
const STORE_FAULTS: readonly Fault[] = [
  "query fails",
  "query fails after its commit",
  "query is slow",
  "transaction runs twice",
];

export interface PlayedReal {
  seconds: number;
  kills: number;
  freezes: number;
  /** How many runs ended how. */
  outcomes: Record<string, number>;
  leftOut: ReadonlyMap<string, number>;
}

/** Throws with the whole history if something is wrong. */
export async function playReal(plan: Plan): Promise<PlayedReal> {
  const began = performance.now();
  const stage = await RealStage.start(plan);
  for (const fault of STORE_FAULTS) {
    const times = plan.faults[fault] ?? 0;
    if (times > 0) stage.leaveOut(fault, times);
  }
  try {
    const violations = await playOn(stage);
    if (violations.length > 0) throw new Error(await story(stage, violations));
    const { counts, leftOut } = stage;
    const seconds = Math.round((performance.now() - began) / 1000);
    return { seconds, ...counts, outcomes: await outcomesOf(stage), leftOut };
  } finally {
    await stage.stop();
  }
}

/** What the simulator makes of a seed today. */
export async function simulatedPlan(seed: number): Promise<Plan> {
  const database = await SharedDatabase.open();
  try {
    const { violations, plan } = await play({ seed, database });
    const [first] = violations;
    if (first)
      throw new Error(`Seed ${seed} fails in the simulator already: npm run simulate -- --seed ${seed}\n${first}`);
    return plan;
  } finally {
    database.close();
  }
}

/** Everything at its moment. Little time passes while a process starts: a real one needs seconds for that. */
async function storm(stage: RealStage): Promise<void> {
  const { actions, incidents, stormMs } = stage.plan;
  const moments = [
    ...actions.map((action, index) => ({ at: action.at, work: () => actFor(stage, action, index) })),
    ...incidents
      .filter(({ at }) => at > 0)
      .map((incident) => ({ at: incident.at, work: () => strike(stage, incident) })),
  ].sort((one, other) => one.at - other.at);
  const works: Promise<unknown>[] = [];
  for (let now = 0; now < stormMs; ) {
    await Bun.sleep(TICK_MS);
    const isSlow = stage.processes.some(({ isStarting }) => isStarting);
    now += (TICK_MS * stage.shorter) / (isSlow ? SLOW : 1);
    while (moments[0] && moments[0].at < now) works.push(moments.shift()?.work() ?? Promise.resolve());
  }
  stage.heal();
  await Promise.race([Promise.all(works), Bun.sleep(REST_MS)]);
}

async function playOn(stage: RealStage): Promise<string[]> {
  await storm(stage);
  const unanswered = [...stage.unanswered].map((who) => `${who} was never answered`);
  const found = await rest(stage);
  if (found !== null || unanswered.length > 0) return [...unanswered, found ?? "", ...(await checkReal(stage))];
  // Each parent takes one more turn: a notice that is told twice would be told by then.
  for (const [index, { parent }] of stage.livingParents().entries()) {
    const process = stage.processes[index % stage.processes.length];
    const marker = stage.script(`last-${index}`, []);
    await process?.world.opencode.promptAsync(parent.sessionId, `${marker} And now?`);
    await process?.world.opencode.waitIdle(parent.sessionId);
  }
  const later = await rest(stage);
  return [...(later === null ? [] : [later]), ...(await checkReal(stage))];
}

async function strike(stage: RealStage, { role, what, ms }: Incident): Promise<void> {
  const { processes, counts } = stage;
  const struck = processes.find(({ name }) => name === role);
  if (what === "sleeps") {
    for (const process of processes) {
      if (process.freeze(Math.min(stage.scale(ms), LONGEST_FREEZE_MS))) counts.freezes++;
    }
  } else if (!struck) stage.leaveOut(role === "machine" ? what : `${role} ${what}`);
  else if (what === "dies") counts.kills += (await struck.kill()) ? 1 : 0;
  else if (what === "freezes") counts.freezes += struck.freeze(stage.scale(ms)) ? 1 : 0;
  else if (what === "starts") await struck.restart();
}

/** Until nothing is live, nothing is to be told and nobody works; null, or what is left. */
async function rest(stage: RealStage): Promise<string | null> {
  const end = performance.now() + REST_MS;
  let before = "";
  for (;;) {
    const left = await leftToDo(stage).catch((thrown: unknown) => messageOf(thrown));
    if (left === null) return null;
    if (left !== before) stage.tell("machine", `is not at rest: ${left}`);
    before = left;
    if (performance.now() > end) return `it did not come to rest: ${left}`;
    await Bun.sleep(LOOK_MS);
  }
}

async function leftToDo(stage: RealStage): Promise<string | null> {
  const { store, processes } = stage;
  await Promise.all(processes.map((process) => process.restart()));
  for (const process of processes) {
    if (!process.isUp) return `${process.name} does not run`;
    for (const id of await openRequests(process)) {
      stage.tell("a person", `allows ${id} in ${process.name}`);
      await process.world.opencode.client.replyPermission(id, "once");
    }
  }
  const { tasks } = await store.tasks({ status: ["running", "resumed"] });
  if (tasks.length > 0) return `live: ${tasks.map(({ id, phase }) => `${id} (${phase})`).join(", ")}`;
  const launches = await store.launches();
  if (launches.length > 0) return `launches: ${launches.map(({ id }) => id).join(", ")}`;
  const parents = (await store.parentsWithNotices()).filter((id) =>
    stage.livingParents().some(({ parent }) => parent.sessionId === id),
  );
  if (parents.length > 0) return `to be told: ${parents.join(", ")}`;
  for (const { name, world } of processes) {
    const busy = Object.keys(await world.opencode.client.statuses());
    if (busy.length > 0) return `${name} works in ${busy.join(", ")}`;
  }
  return null;
}

async function outcomesOf({ store }: RealStage): Promise<Record<string, number>> {
  const outcomes: Record<string, number> = {};
  const { tasks } = await store.tasks({ limit: 200 });
  for (const { id } of tasks) {
    for (const { outcome } of await store.runs(id, 200)) {
      outcomes[outcome ?? "live"] = (outcomes[outcome ?? "live"] ?? 0) + 1;
    }
  }
  return outcomes;
}

async function story(stage: RealStage, violations: readonly string[]): Promise<string> {
  const [first] = stage.processes;
  const log = first ? Bun.file(join(first.world.storage, "asyncagents.log")) : null;
  const requests = stage.model.requests
    .filter(({ kind }) => kind === "turn")
    .map(
      ({ time, sessionId, answeredBy, status }) =>
        `${new Date(time).toISOString()} ${sessionId} ${answeredBy} ${status}`,
    );
  return [
    // All in the first line: the summary of a run shows no other.
    `Seed ${stage.plan.seed} failed on real programs: ${violations.join("; ")}`,
    "\nWhat happened:",
    ...stage.history,
    "\nWhat the model was asked:",
    ...requests,
    "\nThe end of the plugin's log:",
    log && (await log.exists()) ? lastLines(await log.text(), LOG_LINES) : "",
    "\nThe end of OpenCode's log:",
    first ? await logTail(first.world.opencode.home, LOG_LINES) : "",
  ].join("\n");
}
