/**
 * Sends the heartbeats of this process's instances to the store, which renew their leases. If an instance is missing in
 * the store, or its lease was over, others may have taken over what it had: it is registered again, and its engine
 * checks which tasks are still its own before it acts again. Does not judge other processes.
 */
import { messageOf } from "../../model/errors.ts";
import type { Clock } from "../../process/clock.ts";
import type { Log } from "../../process/log.ts";
import type { Store } from "../../store/store.ts";
import type { Member } from "../member.ts";
import { Lease } from "./lease.ts";

/** How soon a heartbeat that failed is tried again, as a part of the time between two: the lease goes on. */
const AGAIN_PART = 5;

interface HeartbeatContext extends Clock {
  store: Store;
  log: Log;
  beatMs: number;
  /** The length of the leases; null: the instances have none. */
  leaseMs: number | null;
  /** Called after each round of heartbeats of instances with leases, or in which one was registered again. */
  onBeaten(): void;
}

export class Heartbeat {
  readonly #context: HeartbeatContext;
  readonly #members: ReadonlyMap<string, Member>;
  /** Those that registered again and have not checked their tasks yet: a check that failed is repeated. */
  readonly #unverified = new Set<Member>();
  /** An instance was registered again in this round. */
  #hasReturned = false;
  /** How often each has beaten, or tried to: at least what the store has. */
  readonly #beats = new WeakMap<Member, number>();
  /** By the ids of the instances. */
  readonly #leases = new Map<string, Lease>();
  /** For all that have ended. */
  readonly #ended: Lease;
  /** Cancels the next round. Set from start to stop. */
  #cancel: (() => void) | null = null;
  /** When the store last accepted a heartbeat, and when it was last found that it had accepted nothing for long. */
  #acceptedAt = Number.NEGATIVE_INFINITY;
  #troubledAt = Number.NEGATIVE_INFINITY;
  /** Counts up with each stop: a round of heartbeats that began before it does not schedule another. */
  #stops = 0;

  constructor(context: HeartbeatContext, members: ReadonlyMap<string, Member>) {
    this.#context = context;
    this.#members = members;
    this.#ended = new Lease(context, 0);
    this.#ended.end();
  }

  /** Registers an instance, with a lease. */
  async register(member: Member): Promise<void> {
    const { store, leaseMs } = this.#context;
    const { id } = member.instance;
    if (leaseMs !== null) this.#leases.set(id, new Lease(this.#context, leaseMs));
    const renewed = this.#leases.get(id)?.renew();
    await store.addInstance(member.instance, leaseMs);
    renewed?.();
    this.#accepted();
  }

  /**
   * Whether the store has accepted writes for long enough that everybody could renew a lease. After a while in which
   * this process could not write, perhaps nobody could: then a lease that is over does not show that anybody is dead.
   */
  get isSteady(): boolean {
    const { leaseMs, monotonic } = this.#context;
    if (leaseMs === null) return true;
    const at = monotonic();
    const isAccepted = this.#members.size === 0 || at - this.#acceptedAt <= leaseMs / 2;
    return isAccepted && at - this.#troubledAt >= leaseMs / 2;
  }

  /** A recovery failed. Without members there are no heartbeats that would show for how long. */
  recoveryFailed(): void {
    if (this.#members.size === 0) this.#troubledAt = this.#context.monotonic();
  }

  #accepted(): void {
    const { leaseMs, monotonic } = this.#context;
    const at = monotonic();
    const isLate = this.#acceptedAt !== Number.NEGATIVE_INFINITY && at - this.#acceptedAt > (leaseMs ?? 0) / 2;
    if (isLate) this.#troubledAt = at;
    this.#acceptedAt = at;
  }

  /** The lease of an instance of this process; null if it needs none. One that has ended holds none any more. */
  lease(id: string): Lease | null {
    return this.#context.leaseMs === null ? null : (this.#leases.get(id) ?? this.#ended);
  }

  /** The instance ends: it does not act any more. */
  release(id: string): void {
    this.#leases.get(id)?.end();
    this.#leases.delete(id);
  }

  /** Does nothing if it has been started. */
  start(ms = this.#context.beatMs): void {
    if (this.#cancel) return;
    const stops = this.#stops;
    const beatAll = async () => {
      const beaten = await Promise.all([...this.#members.values()].map((member) => this.#beat(member)));
      if (stops !== this.#stops) return;
      this.#cancel = null;
      const { leaseMs, beatMs, onBeaten } = this.#context;
      // Others ended it: they may have begun what they have to do in its place, and die before it is done.
      if (leaseMs !== null || this.#hasReturned) onBeaten();
      this.#hasReturned = false;
      this.start(leaseMs !== null && beaten.includes(false) ? beatMs / AGAIN_PART : beatMs);
    };
    this.#cancel = this.#context.after(ms, () => void beatAll(), { background: true });
  }

  stop(): void {
    this.#stops++;
    this.#cancel?.();
    this.#cancel = null;
  }

  /** False if it failed. */
  async #beat(member: Member): Promise<boolean> {
    const { store, log, leaseMs } = this.#context;
    const { instance } = member;
    const lease = this.#leases.get(instance.id);
    const beat = (this.#beats.get(member) ?? instance.beat) + 1;
    this.#beats.set(member, beat);
    try {
      let renewed = lease?.renew();
      const isKnown = await store.beat(instance.id, leaseMs);
      if (!this.#members.has(instance.id)) {
        this.#unverified.delete(member);
        return true;
      }
      if (!isKnown) {
        log.error("the lease of this process was over, or another one ended it; it registers again", {
          instance: instance.id,
        });
        this.#unverified.add(member);
        lease?.lose();
        renewed = lease?.renew();
        // With a number that nobody has seen: others remember for how long the last one stood still.
        await store.addInstance({ ...instance, beat }, leaseMs);
        this.#hasReturned = true;
        // It was removed in the meantime.
        if (!this.#members.has(instance.id)) await store.endInstance(instance.id);
      }
      if (this.#unverified.has(member)) await member.verify();
      this.#unverified.delete(member);
      renewed?.();
      this.#accepted();
      return true;
    } catch (thrown) {
      log.error("the heartbeat could not be written; the next one tries again", { error: messageOf(thrown) });
      return false;
    }
  }
}
