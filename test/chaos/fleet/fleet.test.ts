/**
 * Several machines on one real PostgreSQL. Each task ends exactly once with the state that its agent's transcript
 * shows, each parent is told exactly once, and every server shows the same. `npm test` plays a short story;
 * `npm run chaos -- --fleet` a storm with 500 tasks, in which processes and machines die and stand still, and ten tasks
 * on the real OpenCode.
 */
import { expect, test } from "bun:test";
import { isLive } from "../../../src/model/task.ts";
import { machineOf } from "../../../src/process/machine.ts";
import { eventually } from "../../../src/testing/eventually.ts";
import { startPostgresServer } from "../../store/postgres-server.ts";
import type { Loss } from "./attempts.ts";
import { storedTasks } from "./checks.ts";
import { EndReader } from "./end-reader.ts";
import { Fleet } from "./fleet.ts";
import { byParent, byQueue, isQuick, Launches } from "./launches.ts";
import { playOpenCodeFleet } from "./opencode-fleet.ts";
import { Place } from "./places.ts";
import { Storm } from "./storm.ts";
import { figures, judge } from "./verdict.ts";
import { watchDatabase } from "./witness.ts";

/** The number of tasks of the storm; without it, the short story. */
const TASKS = Number(process.env.ASYNCAGENTS_FLEET_TASKS ?? 0);
const OPENCODE_TASKS = 10;
const STORM_MS = 30 * 60_000;
const STORY_MS = 120_000;

async function start() {
  const postgres = await startPostgresServer(["max_connections=300"]);
  const { connectionString, restart } = postgres;
  const fleet = await Fleet.open({ connectionString });
  return { fleet, restart, seenBy: await watchDatabase(connectionString) };
}

async function storm(): Promise<void> {
  const { fleet, restart, seenBy } = await start();
  const played = await Storm.start(fleet, restart, TASKS);
  await played.run();
  const { losses, readers, stoppedMs } = played;
  const { planned, accepted } = played.launches;
  const servers = await played.servers();
  const verdict = await judge({ fleet, losses, seenBy, planned, accepted, readers, servers });
  const stopped = `the woken runner had stopped its agents after ${stoppedMs} ms`;
  console.log([...figures(verdict, { losses, readers }), stopped].join("\n"));
  expect(verdict.wrong).toEqual([]);
  expect([accepted.size, verdict.tasks.some(({ status }) => status === "error")]).toEqual([TASKS, true]);
}

/** While agents of two runners and a parent work, PostgreSQL restarts, and a runner and the parent are killed. */
async function story(): Promise<void> {
  const { fleet, restart, seenBy } = await start();
  const losses: Loss[] = [];
  const place = <P extends Awaited<ReturnType<Fleet["parent"]>>>(start: () => Promise<P>) =>
    new Place(losses, { start, takers: "same", awayMs: 0, leastMs: 0 });
  const [first, second] = [place(() => fleet.runner("one", 3)), place(() => fleet.runner("two", 3))];
  const [parent, server] = [place(() => fleet.parent("three")), place(() => fleet.server("four"))];
  await Promise.all([first, second, parent, server].map((each) => each.start()));
  const seenOn = await server.start();
  const readers = [new EndReader(() => seenOn)];

  const launches = new Launches(fleet);
  const names = (from: number, count: number) => Array.from({ length: count }, (_, index) => `t000${from + index}`);
  const queued = names(1, 8).map((name, index) => ({ name, retries: index % 2 }));
  launches.add(byQueue(fleet), queued, queued.length);
  const children = ["t1001", "t1003", "t1004"].map((name) => ({ name, retries: 0 }));
  launches.add(byParent(parent), children, children.length);
  launches.go(new Set());
  // Two of the queued ones end at once, when it is their turn; each runner works on three of the others, and the
  // parent's host on three more.
  const working = await eventually(fleet.store, async () => {
    const tasks = (await storedTasks(fleet)).filter(
      ({ phase, description }) => phase === "working" && !isQuick(description),
    );
    return tasks.length === 9 && tasks.every(({ description }) => fleet.signs("begun").has(description)) ? tasks : null;
  });
  const lost = working.filter(({ machine }) =>
    ["two", "three"].some((name) => machineOf(fleet.data(name)) === machine),
  );
  await restart();
  await Promise.all([second.kill(), parent.kill()]);
  for (const { description } of working) fleet.letGo(description);
  await Promise.all([second.start(), parent.start()]);
  await eventually(fleet.store, async () => {
    return (await storedTasks(fleet)).some(({ status }) => isLive(status)) ? null : true;
  });
  // A delivery is no change of a task.
  while ((await fleet.store.parentsWithNotices()).length > 0) await Bun.sleep(50);

  const { planned, accepted } = launches;
  const verdict = await judge({ fleet, losses, seenBy, planned, accepted, readers, servers: [seenOn] });
  expect(verdict.wrong).toEqual([]);
  expect([verdict.tasks.length, accepted.size, verdict.taken.length]).toEqual([11, 11, lost.length]);
  const interrupted = verdict.tasks.filter(({ status }) => status === "error").map(({ id }) => id);
  const once = lost.filter(({ description }) => planned.get(description)?.retries === 0).map(({ id }) => id);
  expect(interrupted.toSorted()).toEqual(once.toSorted());
}

if (TASKS === 0) test("runners and a parent die, and the database restarts, while their agents work", story, STORY_MS);
else {
  test(`${TASKS} tasks on machines that die, stand still and lose their database`, storm, STORM_MS);
  const title = `${OPENCODE_TASKS} tasks on two machines with OpenCode, one of which loses its runner`;
  test(title, () => playOpenCodeFleet(OPENCODE_TASKS), STORM_MS);
}
