/** All checks together, after everything is over; and the figures of a run in words. */
import type { Task } from "../../../src/model/task.ts";
import { type Attempt, attemptsOf, type Loss, Losses, type Takeover, takeovers } from "./attempts.ts";
import {
  checkTask,
  checkTold,
  checkUnused,
  type Evidence,
  type Expected,
  eventsOf,
  listOf,
  storedTasks,
} from "./checks.ts";
import type { EndReader } from "./end-reader.ts";
import type { Fleet, FleetServer } from "./fleet.ts";
import { transcripts } from "./real-work.ts";
import type { Seen } from "./witness.ts";

const LOOK_MS = 100;

interface Played {
  fleet: Fleet;
  losses: readonly Loss[];
  seenBy(): Promise<Seen>;
  /** Every task that may exist, and the ids of those that were accepted, by name. */
  planned: ReadonlyMap<string, Expected>;
  accepted: ReadonlyMap<string, string>;
  readers: readonly EndReader[];
  servers: readonly FleetServer[];
}

export interface Verdict {
  tasks: Task[];
  taken: Takeover[];
  /** What is wrong, in words. */
  wrong: string[];
}

export async function judge(played: Played): Promise<Verdict> {
  const { fleet, readers, servers } = played;
  const tasks = await storedTasks(fleet);
  for (const reader of readers) while (reader.ends.size < tasks.length) await Bun.sleep(LOOK_MS);
  for (const reader of readers) await reader.stop();
  const seen = await played.seenBy();
  const losses = new Losses(played.losses, seen);
  const evidence: Evidence = { seen, losses, sessions: transcripts(fleet), done: fleet.signs("done") };
  const attempts = tasks.flatMap(({ id }) => attemptsOf(eventsOf(seen, id)));
  const taken = takeovers(losses, attempts, seen);
  const wrong = [
    ...checkAccepted(played, tasks),
    ...tasks.flatMap((task) => checkTask(task, expectedOf(played, task), evidence)),
    ...checkSessions(tasks, attempts, evidence),
    ...readers.flatMap((reader) => checkReader(reader, tasks)),
    ...(await checkLists(servers, tasks.length)),
    ...tooSoon(taken),
  ];
  return { tasks, taken, wrong };
}

function expectedOf({ planned }: Played, { description }: Task): Expected {
  const expected = planned.get(description);
  if (expected === undefined) throw new Error(`Nobody launched ${description}.`);
  return expected;
}

function checkAccepted({ accepted }: Played, tasks: readonly Task[]): string[] {
  const known = new Set(tasks.map(({ id }) => id));
  return [...accepted].filter(([, id]) => !known.has(id)).map(([name]) => `${name} was accepted and is lost`);
}

function checkSessions(tasks: readonly Task[], attempts: readonly Attempt[], evidence: Evidence): string[] {
  const parents = [...Map.groupBy(tasks, ({ parentSessionId }) => parentSessionId)].filter(([id]) => id !== "");
  const used = new Set([...attempts.map(({ sessionId }) => sessionId), ...parents.map(([id]) => id)]);
  const told = parents.flatMap(([id, its]) => {
    const parent = evidence.sessions.get(id);
    return parent ? checkTold(parent, its) : [`the parent ${id} is gone`];
  });
  return [...told, ...checkUnused(used, evidence)];
}

function checkReader({ ends }: EndReader, tasks: readonly Task[]): string[] {
  const times = ({ id }: Task) => ends.get(id) ?? 0;
  const others = tasks.filter((task) => times(task) !== 1);
  return others.map((task) => `a reader saw the end of ${task.description} ${times(task)} times`);
}

async function checkLists(servers: readonly FleetServer[], count: number): Promise<string[]> {
  const lists = await Promise.all(servers.map(listOf));
  const [first] = lists;
  const differ = lists.some((list) => JSON.stringify(list) !== JSON.stringify(first));
  return [
    ...(differ ? ["the servers show different lists"] : []),
    ...(first?.length === count ? [] : [`a server shows ${first?.length} of ${count} tasks`]),
  ];
}

/** Nothing is taken over from another machine before its lease is over, nor after it went on. */
function tooSoon(taken: readonly Takeover[]): string[] {
  const early = taken.filter(({ takers, afterLeaseMs }) => takers === "other" && afterLeaseMs < 0);
  const late = taken.filter(({ wasFrozen, isAfterWaking }) => wasFrozen && isAfterWaking);
  return [
    ...early.map(({ afterLeaseMs }) => `a run was taken over ${-afterLeaseMs} ms before its lease was over`),
    ...late.map(({ ms }) => `a run of a process that stood still was over only when it went on, after ${ms} ms`),
  ];
}

export function figures({ tasks, taken }: Verdict, { losses, readers }: Pick<Played, "losses" | "readers">): string[] {
  const count = (status: Task["status"]) => tasks.filter((task) => task.status === status).length;
  const longest = (takers: Takeover["takers"], wasFrozen: boolean) => {
    const its = taken.filter((each) => each.takers === takers && each.wasFrozen === wasFrozen);
    const [most, afterLease] = [its.map(({ ms }) => ms), its.map(({ afterLeaseMs }) => afterLeaseMs)];
    return its.length === 0
      ? "none"
      : `${its.length}, the last after ${Math.max(...most)} ms (${Math.max(...afterLease)} ms after the lease)`;
  };
  const frozen = losses.filter(({ wokenAt }) => wokenAt !== null).length;
  return [
    `${tasks.length} tasks: ${count("completed")} completed, ${count("error")} interrupted`,
    `${losses.length - frozen} kills, ${frozen} processes frozen, PostgreSQL restarted once`,
    `runs taken over on the same machine: ${longest("same", false)}`,
    `by other machines: ${longest("other", false)}; of frozen processes: ${longest("other", true)}`,
    `by either: ${longest("any", false)}`,
    `reconnects of the readers: ${readers.map(({ reconnects }) => reconnects).join(", ")}`,
  ];
}
