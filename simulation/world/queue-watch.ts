/**
 * Watches the queue of runs as it is committed, event by event: who begins what, within which limits, and what goes
 * back to the queue. Knows what was asked for; does not trust what the queue says about it.
 */
import type { TaskClaimed, TaskEvent } from "../../src/model/events.ts";
import type { Fleet } from "../roles/fleet.ts";
import type { QueuedAsk } from "../scenario/promises.ts";
import type { Machine } from "./machine.ts";
import type { QueuedRunRow, SharedDatabase } from "./shared-database.ts";
import type { SimulatedProcess } from "./simulated-process.ts";

/** How much time there is between what recovery reads and what it writes. */
const WRITE_MS = 40_000;

/** One beginning of a queued task. */
export interface Beginning {
  at: number;
  by: SimulatedProcess;
  messageId: string;
  sessionId: string;
  /** Who drives the run: another process may take over what was at work or paused. */
  driver: SimulatedProcess;
  /** When the run went back to the queue; null if it did not. */
  requeuedAt: number | null;
}

export interface QueuedHistory {
  ask: QueuedAsk;
  beginnings: Beginning[];
  requeues: number;
  /** Somebody asked to cancel its first run. */
  isCancelRequested: boolean;
  isOver: boolean;
}

export class QueueWatch {
  readonly #fleet: Fleet;
  readonly #machine: Machine;
  readonly #database: SharedDatabase;
  readonly #asks: ReadonlyMap<string, QueuedAsk>;
  /** By the ids of their tasks. */
  readonly tasks = new Map<string, QueuedHistory>();

  /** `asks` are what people asked for, by the prompt; each prompt is unique. */
  constructor(machine: Machine, database: SharedDatabase, fleet: Fleet, asks: ReadonlyMap<string, QueuedAsk>) {
    this.#machine = machine;
    this.#database = database;
    this.#fleet = fleet;
    this.#asks = asks;
    database.onEntry((taskId, event, by) => this.#heed(taskId, event, by));
  }

  /** The ids of the tasks that a runner has claimed and not begun. */
  claimed(): string[] {
    return this.#database.queuedRuns().flatMap(({ task_id, state }) => (state === "claimed" ? [task_id] : []));
  }

  places(): QueuedRunRow[] {
    return this.#database.queuedRuns();
  }

  /** How long a claim lasts. */
  get claimMs(): number {
    return this.#fleet.claimMs;
  }

  #heed(taskId: string, event: TaskEvent, by: SimulatedProcess): void {
    if (event.type === "task.created") {
      const ask = this.#asks.get(event.task.prompt);
      const plain = { beginnings: [], requeues: 0, isCancelRequested: false, isOver: false };
      if (ask) this.tasks.set(taskId, { ask, ...plain });
      return;
    }
    const queued = this.tasks.get(taskId);
    if (!queued || queued.isOver) return;
    if (event.type === "task.claimed") this.#begun(taskId, queued, event, by);
    else if (event.type === "task.adopted") adopt(queued, by);
    else if (event.type === "run.requeued") this.#requeued(taskId, queued, event.reason, by);
    else if (event.type === "cancel.requested") queued.isCancelRequested = true;
    else if (event.type === "run.completed" || event.type === "run.failed" || event.type === "run.cancelled") {
      const isClaimers = event.type === "run.failed" && this.#machine.claimers.get(taskId) === by;
      if (!isAtWork(queued) && event.type !== "run.cancelled" && !isClaimers)
        this.#break(`${by.name} ended ${taskId}, which nobody had begun and it had not claimed`);
      queued.isOver = true;
    }
  }

  #begun(taskId: string, queued: QueuedHistory, { messageId, sessionId }: TaskClaimed, by: SimulatedProcess): void {
    const { timeline } = this.#machine;
    queued.beginnings.push({ at: timeline.now, by, messageId, sessionId, driver: by, requeuedAt: null });
    if (queued.beginnings.length > queued.requeues + 1)
      this.#break(`${taskId} was begun ${queued.beginnings.length} times, and went back ${queued.requeues} times`);
    const place = this.#database.queuedRuns().find((row) => row.task_id === taskId);
    const claimer = this.#machine.instances.get(place?.claimed_by ?? "");
    if (place?.state !== "begun" || claimer !== by)
      this.#break(`${by.name} began ${taskId}, which ${claimer?.name ?? "nobody"} had claimed (${place?.state})`);
    this.#checkNeeds(taskId, queued.ask, by);
    this.#checkLimits(taskId, by);
  }

  #checkNeeds(taskId: string, { labels, machine }: QueuedAsk, by: SimulatedProcess): void {
    const member = this.#fleet.members.find(({ name }) => by.name.startsWith(`${name}#`));
    const isHere = machine === null || machine === by.place;
    if (!member || !isHere || !labels.every((label) => member.labels.includes(label)))
      this.#break(`${by.name} began ${taskId}, which it cannot do (${labels.join(", ")}, machine ${machine})`);
  }

  /** Counted by what was begun and is not over, whatever the queue says. */
  #checkLimits(taskId: string, by: SimulatedProcess): void {
    const atWork = [...this.tasks.values()].filter(isAtWork);
    const { total, hosts = {}, labels = {} } = this.#fleet.limits;
    const over = (what: string, limit: number, runs: number) => {
      if (runs > limit)
        this.#break(`${by.name} began ${taskId}, so that ${runs} are at work: the limit ${what} is ${limit}`);
    };
    if (total !== undefined) over("for all", total, atWork.length);
    for (const [host, limit] of Object.entries(hosts))
      over(`of ${host}`, limit, atWork.filter(({ ask }) => ask.host === host).length);
    for (const [label, limit] of Object.entries(labels))
      over(`of ${label}`, limit, atWork.filter(({ ask }) => ask.labels.includes(label)).length);
    const max = this.#fleet.members.find(({ name }) => by.name.startsWith(`${name}#`))?.max ?? 0;
    const own = atWork.filter(({ beginnings }) => this.#isKnown(beginnings.at(-1), by));
    over("of the runner", max, own.length);
  }

  /** A runner that was told that a beginning failed has no agent for it, and does another run in its place. */
  #isKnown(last: Beginning | undefined, by: SimulatedProcess): boolean {
    return last?.by === by && last.driver === by && !this.#machine.unheard.has(last.messageId);
  }

  /** Only a run that was interrupted goes back: not one that was answered where its session could be read. */
  #requeued(taskId: string, queued: QueuedHistory, reason: string, by: SimulatedProcess): void {
    const { timeline, work, troubles, hosts, drained } = this.#machine;
    const begun = queued.beginnings.at(-1);
    queued.requeues++;
    if (queued.requeues > queued.ask.retry)
      this.#break(`${taskId} went back ${queued.requeues} times, and ${queued.ask.retry} retries were asked for`);
    if (queued.isCancelRequested) this.#break(`${taskId} went back to the queue although it was to be cancelled`);
    if (!begun) {
      this.#break(`${taskId} went back to the queue and had not begun`);
      return;
    }
    begun.requeuedAt = timeline.now;
    if (!reason.startsWith("interrupted:"))
      this.#break(`${taskId} went back to the queue without an interruption: ${reason}`);
    const { ends, endedAt } = work.of(begun.messageId);
    const isCalm = troubles.calm(endedAt ?? 0, timeline.now) > WRITE_MS;
    // One that is asked to end has little time to read it.
    const isUnread = drained.has(by.name) && !this.#machine.couldKnow(by.name, begun.sessionId, endedAt ?? 0);
    const isReadable = begun.by.place === by.place && isCalm && !isUnread;
    if (ends.at(-1) === "answered" && isReadable) this.#break(`${taskId} was answered, and went back to the queue`);
    const isWorking = hosts.some(({ program }) => program.prompts.includes(begun.messageId));
    if (isWorking && begun.by === by && !drained.has(by.name))
      this.#break(`${taskId} went back to the queue while its agent worked`);
  }

  #break(words: string): void {
    this.#machine.broken.push(words);
  }
}

/** A runner that stood still does less than before: a process of its machine went on with the run. */
function adopt({ beginnings }: QueuedHistory, by: SimulatedProcess): void {
  const last = beginnings.at(-1);
  if (last) last.driver = by;
}

function isAtWork({ beginnings, isOver }: QueuedHistory): boolean {
  const last = beginnings.at(-1);
  return !isOver && last !== undefined && last.requeuedAt === null;
}
