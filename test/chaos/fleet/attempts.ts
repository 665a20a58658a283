/**
 * The attempts at each task, as the database saw them: who drove each, from when until when, and how it was over; and
 * which processes were lost meanwhile. Pure.
 */
import type { Seen, SeenEvent, SeenInstance } from "./witness.ts";

const ENDS: ReadonlySet<string> = new Set(["run.completed", "run.failed", "run.cancelled"]);

/** A process that was killed, or stood still for longer than its lease. */
export interface Loss {
  pid: number;
  at: number;
  /** When it went on; null for one that was killed. */
  wokenAt: number | null;
  /** Who was there to take over: a process of the same machine, only others, or either. */
  takers: "same" | "other" | "any";
}

export interface Attempt {
  owner: string;
  sessionId: string;
  messageId: string;
  begunAt: number;
  /** Null while it goes on. */
  over: { type: string; at: number; error: string | null } | null;
}

export const isEnd = ({ type }: { type: string }) => ENDS.has(type);

/** In their order; several only if it went back to the queue. */
export function attemptsOf(events: readonly SeenEvent[]): Attempt[] {
  const attempts: Attempt[] = [];
  for (const { type, event, at } of events) {
    const begun = type === "task.created" ? event.task : type === "task.claimed" ? event : null;
    const last = attempts.at(-1);
    if (begun?.sessionId && begun.owner) {
      const { owner, sessionId, messageId = "" } = begun;
      attempts.push({ owner, sessionId, messageId, begunAt: at, over: null });
    } else if (type === "task.adopted" && last && event.owner) last.owner = event.owner;
    else if (last?.over === null && (isEnd({ type }) || type === "run.requeued")) {
      last.over = { type, at, error: event.error ?? null };
    }
  }
  return attempts;
}

export class Losses {
  readonly all: readonly Loss[];
  readonly #pids = new Map<string, number>();
  readonly #leases: Map<string, SeenInstance[]>;

  constructor(all: readonly Loss[], { instances }: Seen) {
    this.all = all;
    for (const { id, pid } of instances) this.#pids.set(id, pid);
    this.#leases = Map.groupBy(instances, ({ id }) => id);
  }

  /** The newest loss of the owner's process until then. */
  of(owner: string, until: number): Loss | null {
    const pid = this.#pids.get(owner);
    return this.all.findLast((loss) => loss.pid === pid && loss.at <= until) ?? null;
  }

  /** Until when the instance had a lease, as of that time; null if it was not registered. */
  lease(id: string, at: number): number | null {
    return this.#leases.get(id)?.findLast((seen) => seen.at <= at)?.leaseUntil ?? null;
  }
}

/** How long it took until what the lost process had was taken over. */
export interface Takeover {
  takers: Loss["takers"];
  wasFrozen: boolean;
  /** The process had gone on before. */
  isAfterWaking: boolean;
  ms: number;
  /** By how much it was later than the last lease of the owner. */
  afterLeaseMs: number;
}

export function takeovers(losses: Losses, attempts: readonly Attempt[], { releases }: Seen): Takeover[] {
  const begun = attempts.flatMap(({ owner, begunAt, over }) => (over ? [{ owner, from: begunAt, at: over.at }] : []));
  const claimed = releases.map(({ claimedBy, at }) => ({ owner: claimedBy, from: 0, at }));
  return [...begun, ...claimed].flatMap(({ owner, from, at }) => {
    const loss = losses.of(owner, at);
    if (loss === null || from > loss.at) return [];
    const lease = losses.lease(owner, loss.at) ?? at;
    const { takers, wokenAt } = loss;
    const isAfterWaking = wokenAt !== null && at > wokenAt;
    return [{ takers, wasFrozen: wokenAt !== null, isAfterWaking, ms: at - loss.at, afterLeaseMs: at - lease }];
  });
}
