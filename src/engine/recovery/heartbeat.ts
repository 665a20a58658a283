/**
 * Sends the heartbeats of this process's instances to the store, for those who cannot see the process. If an instance
 * is missing in the store, because another process thought it was dead, it is registered again, and its engine checks
 * which tasks are still its own. Does not judge other processes.
 */
import { messageOf } from "../../model/errors.ts";
import type { Clock } from "../../process/clock.ts";
import type { Log } from "../../process/log.ts";
import type { Store } from "../../store/store.ts";
import type { Member } from "../member.ts";

interface HeartbeatContext extends Pick<Clock, "after"> {
  store: Store;
  log: Log;
  beatMs: number;
}

export class Heartbeat {
  readonly #context: HeartbeatContext;
  readonly #members: ReadonlyMap<string, Member>;
  /** Those that registered again and have not checked their tasks yet: a check that failed is repeated. */
  readonly #unverified = new Set<Member>();
  /** How often each has beaten, or tried to: at least what the store has. */
  readonly #beats = new WeakMap<Member, number>();
  /** Cancels the next round. Set from start to stop. */
  #cancel: (() => void) | null = null;
  /** Counts up with each stop: a round of heartbeats that began before it does not schedule another. */
  #stops = 0;

  constructor(context: HeartbeatContext, members: ReadonlyMap<string, Member>) {
    this.#context = context;
    this.#members = members;
  }

  /** Does nothing if it has been started. */
  start(): void {
    if (this.#cancel) return;
    const stops = this.#stops;
    const beatAll = async () => {
      for (const member of [...this.#members.values()]) await this.#beat(member);
      if (stops !== this.#stops) return;
      this.#cancel = null;
      this.start();
    };
    const { after, beatMs } = this.#context;
    this.#cancel = after(beatMs, () => void beatAll(), { background: true });
  }

  stop(): void {
    this.#stops++;
    this.#cancel?.();
    this.#cancel = null;
  }

  async #beat(member: Member): Promise<void> {
    const { store, log } = this.#context;
    const { instance } = member;
    const beat = (this.#beats.get(member) ?? instance.beat) + 1;
    this.#beats.set(member, beat);
    try {
      const isKnown = await store.beat(instance.id);
      if (!this.#members.has(instance.id)) return void this.#unverified.delete(member);
      if (!isKnown) {
        log.error("another process thought this one was dead; it registers again", { instance: instance.id });
        this.#unverified.add(member);
        // With a number that nobody has seen: others remember for how long the last one stood still.
        await store.addInstance({ ...instance, beat });
        // It was removed in the meantime.
        if (!this.#members.has(instance.id)) await store.endInstance(instance.id);
      }
      if (!this.#unverified.has(member)) return;
      await member.verify();
      this.#unverified.delete(member);
    } catch (thrown) {
      log.error("the heartbeat could not be written; the next one tries again", { error: messageOf(thrown) });
    }
  }
}
