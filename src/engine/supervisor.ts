/**
 * What a process does once, however many engines it has: reading the feed, sending heartbeats, finding what dead
 * processes left, and waking the outboxes. Engines are its members from start to stop. It decides when something is
 * due; the engine of a task's host decides what is done about the task.
 */
import { AsyncAgentsError, messageOf } from "../model/errors.ts";
import type { TaskEventType } from "../model/events.ts";
import type { Clock } from "../process/clock.ts";
import type { Log } from "../process/log.ts";
import { SerialQueue } from "../process/serial-queue.ts";
import type { FeedEntry, Instance, Store } from "../store/store.ts";
import type { Member } from "./member.ts";
import { FolderOpening } from "./recovery/folder-opening.ts";
import { Heartbeat } from "./recovery/heartbeat.ts";
import { LEASE_MS, type Lease } from "./recovery/lease.ts";
import { type HostOpener, OrphanSweep } from "./recovery/orphan-sweep.ts";
import { Changes } from "./watching/changes.ts";

/** Events that may have created a notice. */
const NOTICE_EVENTS: ReadonlySet<TaskEventType> = new Set([
  "run.completed",
  "run.failed",
  "run.cancelled",
  "run.phased",
  "budget.warned",
  "run.paused",
]);
const POLL_MS = 5000;
const BEAT_MS = 10_000;
const TELL_MS = 100;
const OPEN_MS = 300;
/** How long after the end of a lease others look: the database must say that it is over. */
const AFTER_LEASE_MS = 100;

export interface SupervisorContext extends Clock {
  store: Store;
  log: Log;
  /** Whether the process of an instance is alive. */
  isAlive(instance: Instance): boolean;
  /** How long the death of another process may go unnoticed; 5 s when absent. */
  pollMs?: number;
  /** How often the heartbeats are sent; every 10 s when absent. */
  beatMs?: number;
  /** The machine of this process, where others use the same store; only this one when absent. */
  machine?: string;
  /** How long others wait for a heartbeat on another machine before they take over; 30 s when absent. */
  leaseMs?: number;
  /** The pause after a recovery that could not put everything right; `pollMs` when absent. */
  retryMs?: number;
  /** For a process that opens hosts itself: used if it has no engine for what it has to recover. */
  opener?: HostOpener;
}

export class Supervisor {
  /** The feed, which is read once for everybody in this process. */
  readonly changes: Changes;
  readonly #context: SupervisorContext;
  readonly #pollMs: number;
  readonly #members = new Map<string, Member>();
  /** Instances of removed engines that are still in the store: their process lives, and they do not. */
  readonly #leaving = new Set<string>();
  readonly #heartbeat: Heartbeat;
  readonly #orphans: OrphanSweep;
  /** For a process that opens hosts itself. */
  readonly #folders: FolderOpening | null;
  readonly #recoveries = new SerialQueue();
  /** The recovery that has been requested and has not begun. */
  #due: Promise<boolean> | null = null;
  #following: Promise<void> | null = null;
  /** Cancel a recovery, and a round of deliveries, that are scheduled. */
  #cancelSweep: (() => void) | null = null;
  #cancelTelling: (() => void) | null = null;
  /** When the scheduled recovery is due, by the clock for durations. */
  #sweepAt = 0;
  #stopped = false;

  constructor(context: SupervisorContext) {
    const { pollMs = POLL_MS, beatMs = BEAT_MS, machine = "", leaseMs = LEASE_MS } = context;
    this.#context = context;
    this.#pollMs = pollMs;
    this.changes = new Changes(context);
    this.changes.onEntries((entries) => this.#heed(entries));
    // On other machines, processes may appear and die of which the feed says nothing.
    const onBeaten = () => this.recoverLater();
    const lease = machine === "" ? null : leaseMs;
    this.#heartbeat = new Heartbeat({ ...context, beatMs, leaseMs: lease, onBeaten }, this.#members);
    this.#orphans = new OrphanSweep(
      { ...context, isAlive: (instance) => !this.#leaving.has(instance.id) && this.lives(instance), machine },
      this.#members,
    );
    const { opener } = context;
    const lives = (instance: Instance) => !this.#leaving.has(instance.id) && this.lives(instance);
    this.#folders = opener === undefined ? null : new FolderOpening({ ...context, opener, lives, machine });
  }

  /** Registers an engine's instance. From now on the engine is told what others write. Rejects after a stop. */
  async add(member: Member): Promise<void> {
    this.#assertRunning();
    try {
      await this.#heartbeat.register(member);
      this.#members.set(member.instance.id, member);
      this.#assertRunning();
      await this.#follow();
      this.#assertRunning();
    } catch (thrown) {
      // It may be registered even if that failed. If it cannot be removed now, the next recovery does it.
      await this.remove(member).catch((failure: unknown) => {
        this.#context.log.error("an engine that did not start stays registered", { error: messageOf(failure) });
      });
      throw thrown;
    }
    this.#heartbeat.start();
  }

  /** From now on, others recover the engine's live tasks, if it has any. */
  async remove(member: Member): Promise<void> {
    this.#members.delete(member.instance.id);
    this.#heartbeat.release(member.instance.id);
    if (!this.#isNeeded) this.#rest();
    this.#leaving.add(member.instance.id);
    // Its tasks and its parents' notices were nobody else's until now, so nobody watched them.
    this.recoverLater();
    await this.#context.store.endInstance(member.instance.id);
    this.#leaving.delete(member.instance.id);
  }

  /** False if the process of an instance is dead, so that others may take over what it had. */
  lives(instance: Instance): boolean {
    if (this.#context.isAlive(instance)) return true;
    const isLeaseOver = instance.leaseLeft !== null && instance.leaseLeft <= 0;
    return isLeaseOver && !this.#heartbeat.isSteady;
  }

  /** The lease of an engine's instance, without which it sends nothing; null if it needs none. */
  lease(instanceId: string): Lease | null {
    return this.#heartbeat.lease(instanceId);
  }

  /**
   * Recovers what dead processes left, then has pending notices delivered. Called once at the start. It repeats itself
   * while there are other processes, and after a failure. False if something could not be recovered now.
   */
  recover(): Promise<boolean> {
    this.#due ??= this.#recoveries.run(() => {
      this.#due = null;
      return this.#recover();
    });
    return this.#due;
  }

  /**
   * Schedules a recovery, unless one is due before: something depends on another process, which may die before it is
   * done.
   */
  recoverLater(ms = this.#pollMs): void {
    const at = this.#context.monotonic() + ms;
    if (!this.#isNeeded || (this.#cancelSweep && this.#sweepAt <= at)) return;
    this.#cancelSweep?.();
    this.#sweepAt = at;
    const recover = () => {
      this.#cancelSweep = null;
      void this.recover();
    };
    this.#cancelSweep = this.#context.after(ms, recover, { background: true });
  }

  /** Starts nothing more. Members may still be removed. */
  stop(): void {
    this.#stopped = true;
    this.#rest();
  }

  /** Resolves once no recovery is running. */
  idle(): Promise<void> {
    return this.#recoveries.idle();
  }

  #assertRunning(): void {
    if (!this.#stopped) return;
    throw new AsyncAgentsError("host_unavailable", "This process is shutting down. Try again after it has restarted.");
  }

  /** Without an engine, and without a way to open one, there is nothing to do until the next engine is added. */
  get #isNeeded(): boolean {
    return !this.#stopped && (this.#members.size > 0 || this.#context.opener !== undefined);
  }

  /**
   * Whether parents live in this process. They do not if it opens hosts itself: a parent whose own process has exited
   * is told when that process starts again, in its own words, unless one of its tasks had to be recovered here.
   */
  get #servesParents(): boolean {
    return this.#context.opener === undefined;
  }

  #rest(): void {
    this.#cancelSweep?.();
    this.#cancelTelling?.();
    this.#cancelSweep = null;
    this.#cancelTelling = null;
    this.#heartbeat.stop();
    this.changes.stop();
    this.#following = null;
  }

  async #recover(): Promise<boolean> {
    if (!this.#isNeeded) return true;
    const { log, retryMs = this.#pollMs } = this.#context;
    try {
      await this.#follow();
      const settled = await Promise.all([...this.#members.values()].map((member) => member.settleDoubts()));
      const { isDone: isRecovered, hasFound, hasOthers, leaseOverMs } = await this.#orphans.run();
      await this.#folders?.run();
      const isDone = isRecovered && !settled.includes(false);
      if (hasFound || this.#servesParents) await this.#tellParents();
      if (leaseOverMs !== null) this.recoverLater(leaseOverMs + AFTER_LEASE_MS);
      if (hasOthers) this.recoverLater();
      else if (!isDone) this.recoverLater(retryMs);
      return isDone;
    } catch (thrown) {
      log.error("recovery failed; it is tried again", { error: messageOf(thrown) });
      this.#heartbeat.recoveryFailed();
      // Not later: leases count only while this process looks at them steadily.
      this.recoverLater();
      return false;
    }
  }

  /** Starts to read the feed. After a failure, the next call tries again. */
  async #follow(): Promise<void> {
    this.#following ??= this.changes.start().catch((thrown: unknown) => {
      this.#following = null;
      throw thrown;
    });
    await this.#following;
    // The last engine left while the feed was being opened.
    if (!this.#isNeeded) this.#rest();
  }

  #heed(entries: readonly FeedEntry[]): void {
    for (const entry of entries) {
      if (this.#isForeign(entry)) this.recoverLater();
      // Whoever has its folder open begins it; perhaps nobody has.
      if (this.#folders && isStartable(entry)) this.recoverLater(OPEN_MS);
      if (NOTICE_EVENTS.has(entry.event.type) && this.#servesParents) this.#tellLater();
      for (const member of this.#members.values()) member.heed(entry);
    }
  }

  /** Whether it gives a task to another process. If that process dies, the task has to be recovered. */
  #isForeign({ event }: FeedEntry): boolean {
    const given = event.type === "task.created" ? event.task : event;
    if ("sessionId" in given && given.sessionId === "") return false;
    return "owner" in given && (given.owner === null || !this.#members.has(given.owner));
  }

  /** For notices that other processes wrote: the engines of this one deliver theirs without being told. */
  #tellLater(): void {
    if (this.#cancelTelling || !this.#isNeeded) return;
    this.#cancelTelling = this.#context.after(TELL_MS, () => {
      this.#cancelTelling = null;
      this.#tellParents().catch((thrown: unknown) => {
        this.#context.log.error("the outbox could not be read; it is tried again", { error: messageOf(thrown) });
        this.recoverLater();
      });
    });
  }

  async #tellParents(): Promise<void> {
    const { store } = this.#context;
    if (this.#members.size === 0) return;
    let page = await store.parentsWithNotices();
    while (page.length > 0) {
      for (const parent of page) for (const member of this.#members.values()) member.tell(parent);
      page = await store.parentsWithNotices(page.at(-1));
    }
  }
}

/** Whether a task that waited for others may have become startable. */
function isStartable({ event }: FeedEntry): boolean {
  return event.type === "task.edited" || (event.type === "run.phased" && event.phase === "queued");
}
