/**
 * Several machines on one real PostgreSQL: runners are killed and started again, one stands still for longer than its
 * lease and goes on, and the database is restarted. Each task ends exactly once with the right state, and its parent is
 * told exactly once. `npm run chaos -- --fleet` plays it with 500 tasks.
 */
import { expect, test } from "bun:test";
import { INTERRUPTED } from "../../../src/model/evidence.ts";
import { isLive, type Task } from "../../../src/model/task.ts";
import type { Store } from "../../../src/store/store.ts";
import { Fleet, type FleetProcess } from "./fleet.ts";
import { startFleetPostgres } from "./fleet-postgres.ts";

const TASKS = Number(process.env.ASYNCAGENTS_FLEET_TASKS ?? 24);
const isLong = TASKS > 100;
const MACHINES = isLong ? ["one", "two", "three"] : ["one", "two"];
const KILL_EACH_MS = isLong ? 4_000 : 800;
const LEASE_MS = 30_000;
const FREEZE_MS = LEASE_MS + 15_000;
const RESTART_AFTER = Math.floor(TASKS / 3);
const TICK_MS = 100;

/** Lets agents go on, a few at a time, until all tasks are over; meanwhile `happen` does what goes wrong. */
async function untilAllOver(fleet: Fleet, ids: readonly string[], happen: (over: number) => Promise<void>) {
  const perTick = isLong ? 2 : 1;
  for (;;) {
    for (const name of fleet.waiting().slice(0, perTick)) fleet.letGo(name);
    const live = await fleet.store.tasks({ status: ["running", "resumed"], limit: 1 }).catch(() => null);
    if (live?.total === 0) return;
    if (live) await happen(ids.length - live.total);
    await Bun.sleep(TICK_MS);
  }
}

async function eventsOf(store: Store, id: string): Promise<string[]> {
  const entries = await store.entriesOf([id], { after: 0, before: Number.MAX_SAFE_INTEGER }, 1_000);
  return entries.map(({ event }) => event.type);
}

const isEnd = (type: string) => ["run.completed", "run.failed", "run.cancelled"].includes(type);

test(
  `${TASKS} tasks on ${MACHINES.length} machines that die, stand still and lose their database`,
  async () => {
    const postgres = await startFleetPostgres();
    const fleet = await Fleet.open(postgres.connectionString);
    const runners = new Map<string, FleetProcess>();
    for (const machine of MACHINES) runners.set(machine, await fleet.runner(machine));
    if (isLong) for (const machine of ["server-one", "server-two"]) await fleet.server(machine);

    const isLaunched = (index: number) => index % 5 === 4;
    const retries = (index: number) => (index % 2 === 0 ? 0 : 5);
    const ids: string[] = [];
    for (let index = 0; index < TASKS; index++) {
      const name = `task-${index}`;
      ids.push(isLaunched(index) ? await fleet.launch(name, index * 100) : await fleet.enqueue(name, retries(index)));
    }

    let kills = 0;
    let killedAt = performance.now();
    let [isFrozen, isRestarted] = [false, false];
    const freezes: Promise<void>[] = [];
    await untilAllOver(fleet, ids, async (over) => {
      if (!isRestarted && over >= RESTART_AFTER) {
        isRestarted = true;
        await postgres.restart();
      }
      if (isLong && !isFrozen && over >= 20) {
        isFrozen = true;
        const frozen = runners.get("three");
        frozen?.kill("SIGSTOP");
        freezes.push(Bun.sleep(FREEZE_MS).then(() => frozen?.kill("SIGCONT")));
      }
      if (performance.now() - killedAt < KILL_EACH_MS || over > TASKS * 0.9) return;
      const machine = kills++ % 2 === 0 ? "one" : "two";
      const old = runners.get(machine);
      old?.kill("SIGKILL");
      await old?.exited;
      runners.set(machine, await fleet.runner(machine));
      killedAt = performance.now();
    });
    await Promise.all(freezes);

    const tasks = (await Promise.all(ids.map((id) => fleet.store.task(id)))).filter((task) => task !== null);
    expect(tasks).toHaveLength(TASKS);
    let interrupted = 0;
    for (const [index, task] of tasks.entries()) {
      const types = await eventsOf(fleet.store, task.id);
      const claims = types.filter((type) => type === "task.claimed").length;
      const requeued = types.filter((type) => type === "run.requeued").length;
      const what = `${task.description}: ${types.join(", ")}; ${task.run.error}`;
      expect(isLive(task.status), what).toBe(false);
      expect(types.filter(isEnd), what).toHaveLength(1);
      expect(requeued, what).toBeLessThanOrEqual(retries(index));
      expect(claims, what).toBe(isLaunched(index) ? 0 : requeued + 1);
      if (task.status === "completed") expect(task.run.result, what).toBe(`done ${task.description}`);
      else {
        interrupted++;
        expect([task.status, task.run.error], what).toEqual(["error", INTERRUPTED]);
        expect(requeued, what).toBe(retries(index));
      }
    }
    await promptedOnce(fleet, tasks);
    const launched = tasks.filter((_, index) => isLaunched(index));
    expect(launched.map(({ status }) => status)).toEqual(launched.map(() => "completed"));
    await toldOnce(fleet, launched);
    const done = TASKS - interrupted;
    console.log(
      `${TASKS} tasks: ${done} completed, ${interrupted} interrupted; ${kills} kills, ${freezes.length} freezes, 1 restart of PostgreSQL`,
    );
    expect([isRestarted, kills > 0, done > 0]).toEqual([true, true, true]);
  },
  isLong ? 900_000 : 120_000,
);

/** Agents got each prompt once, and once more for each retry. */
async function promptedOnce(fleet: Fleet, tasks: readonly Task[]): Promise<void> {
  const counts = new Map<string, number>();
  for (const machine of MACHINES) {
    for (const [name, count] of fleet.prompts(machine)) counts.set(name, (counts.get(name) ?? 0) + count);
  }
  for (const { id, description } of tasks) {
    const requeued = (await eventsOf(fleet.store, id)).filter((type) => type === "run.requeued").length;
    expect(counts.get(description) ?? 0, description).toBeLessThanOrEqual(requeued + 1);
  }
}

async function toldOnce(fleet: Fleet, tasks: readonly Task[]): Promise<void> {
  while ((await fleet.store.notices(fleet.parent, "delivered")).length < tasks.length) await Bun.sleep(TICK_MS);
  const text = fleet.told().join("\n");
  for (const { description } of tasks) {
    const lines = text.split("\n").filter((line) => new RegExp(`\\b${description}\\b`).test(line));
    expect(lines, description).toHaveLength(1);
  }
}
