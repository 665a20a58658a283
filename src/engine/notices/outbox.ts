/**
 * When notices are delivered, and by which process: the one that handles the parent. One delivery per parent at a time;
 * after a failure it is retried with growing pauses. Nothing is given up: a notice is delivered, or dropped because its
 * parent is gone. `delivery.ts` does one delivery; the door words the notices.
 */
import type { HostEvent } from "../../hosts/host.ts";
import { messageOf } from "../../model/errors.ts";
import { isClient } from "../../model/notifications/follower.ts";
import { isSameMachine } from "../../process/machine.ts";
import type { EngineContext } from "../context.ts";
import { endDead } from "../recovery/orphans.ts";
import { Delivery, pauseAfter, type Uptake } from "./delivery.ts";
import { Signals } from "./signals.ts";

const QUIET_MS = 5000;
/** A caller that waits for all notices of a parent does not wait for those that failed this often. */
const WAITED_ATTEMPTS = 5;

type Word = Uptake | "quiet";

interface Pause {
  cancel(): void;
  /** Only for notices that are sent alone; others need not wait. */
  isForAlone: boolean;
}

export class Outbox {
  readonly #context: EngineContext;
  readonly #onForeign: () => void;
  readonly #delivery: Delivery;
  readonly #busy = new Set<string>();
  readonly #again = new Set<string>();
  /** Parents with somebody present: a failure now does not count as an attempt. */
  readonly #hurried = new Set<string>();
  readonly #signals: Signals<Word>;
  /** Parents for which a caller waits until all notices are delivered. */
  readonly #waitedFor = new Map<string, number>();
  /** Parents whose last delivery failed, until the retry. */
  readonly #pausing = new Map<string, Pause>();
  /** How often in a row a parent's notices could not even be read. */
  readonly #troubles = new Map<string, number>();
  #stopped = false;

  /** `onForeign` is called when a notice waits for another living instance, which may die before it delivers. */
  constructor(context: EngineContext, onForeign: () => void) {
    this.#context = context;
    this.#onForeign = onForeign;
    this.#signals = new Signals(context);
    this.#delivery = new Delivery(context, {
      uptake: (messageId, sessionId, limit) =>
        this.#signals.wait([messageId, sessionId], ["taken", "idle"], limit).then((word) => word as Uptake | null),
      forget: (messageId) => this.#signals.say(messageId, null),
      settled: (parent) => this.#signals.say(`quiet:${parent}`, "quiet"),
      isWaitedFor: (parent) => this.#waitedFor.has(parent),
      isStopped: () => this.#stopped,
    });
  }

  /** Delivers to one parent; if a delivery is running, again after it. Does not shorten the pause after a failure. */
  kick(parentSessionId: string): void {
    // Clients fetch theirs through the daemon.
    if (isClient(parentSessionId)) return;
    if (this.#stopped || this.#pausing.get(parentSessionId)?.isForAlone === false) return;
    this.#again.add(parentSessionId);
    if (this.#busy.has(parentSessionId)) return;
    this.#busy.add(parentSessionId);
    void this.#serve(parentSessionId);
  }

  /** Like `kick`, but without the pause: somebody is present. */
  hurry(parentSessionId: string): void {
    this.#endPause(parentSessionId);
    this.#hurried.add(parentSessionId);
    this.kick(parentSessionId);
  }

  /** Whether this outbox sent the message. */
  sent(messageId: string): boolean {
    return this.#delivery.sent(messageId);
  }

  hear(event: HostEvent): void {
    if (event.type === "message.taken") this.#signals.say(event.messageId, "taken");
    else if (event.type === "session.idle") this.#signals.say(event.sessionId, "idle");
  }

  /**
   * Resolves when nothing is pending or being sent for the parent. The parent itself may be waiting for this, and then
   * receives no message; so until then, no delivery waits for the one before it to be received.
   */
  async untilQuiet(parentSessionId: string, signal: AbortSignal): Promise<void> {
    const { store } = this.#context;
    this.#waitedFor.set(parentSessionId, (this.#waitedFor.get(parentSessionId) ?? 0) + 1);
    this.#signals.say(parentSessionId, "idle");
    try {
      while (!signal.aborted && !this.#stopped) {
        const open = [
          ...(await store.notices(parentSessionId, "pending")),
          ...(await store.notices(parentSessionId, "sending")),
        ];
        if (!open.some(({ attempts }) => attempts < WAITED_ATTEMPTS)) break;
        await this.#signals.wait([`quiet:${parentSessionId}`], ["quiet"], QUIET_MS);
      }
    } finally {
      const others = (this.#waitedFor.get(parentSessionId) ?? 1) - 1;
      if (others > 0) this.#waitedFor.set(parentSessionId, others);
      else this.#waitedFor.delete(parentSessionId);
    }
  }

  stop(): void {
    this.#stopped = true;
    for (const { cancel } of this.#pausing.values()) cancel();
    this.#signals.stop();
  }

  async #serve(parentSessionId: string): Promise<void> {
    try {
      while (this.#again.delete(parentSessionId) && !this.#stopped) await this.#deliverAll(parentSessionId);
      this.#troubles.delete(parentSessionId);
    } catch (thrown) {
      const troubles = (this.#troubles.get(parentSessionId) ?? 0) + 1;
      this.#troubles.set(parentSessionId, troubles);
      this.#hurried.delete(parentSessionId);
      this.#context.log.error("notices could not be delivered; they are tried again", { error: messageOf(thrown) });
      this.#pause(parentSessionId, pauseAfter(troubles, this.#context.settings.noticeRetryMs), false);
    } finally {
      this.#busy.delete(parentSessionId);
    }
  }

  async #deliverAll(parentSessionId: string): Promise<void> {
    const { store, host, instance } = this.#context;
    const parent = await store.parent(parentSessionId);
    // Only its own host knows whether a session exists: to another one it looks deleted.
    if (parent !== null && (parent.host ?? host.kind) !== host.kind) return;
    if (parent !== null && !isSameMachine(parent.machine, instance.machine)) return;
    const isMine = parent?.handler === instance.id;
    if (!host.notify) return isMine ? this.#dropAll(parentSessionId) : undefined;
    if (!isMine && (await this.#lives(parent?.handler ?? null))) return this.#leaveTo(parentSessionId);
    const isFree = async (sender: string | null) => {
      if (sender === instance.id || !(await this.#lives(sender))) return true;
      this.#onForeign();
      return false;
    };
    const counts = !this.#hurried.delete(parentSessionId);
    const freshOnly = this.#pausing.has(parentSessionId);
    const failed = await this.#delivery.run(parentSessionId, { parent, isMine, isFree, counts, freshOnly });
    if (failed !== null) this.#pause(parentSessionId, failed.pause, failed.isAlone);
  }

  /** Another process handles the parent now: it sends again what this one could not deliver. */
  async #leaveTo(parentSessionId: string): Promise<void> {
    const { store, instance, now } = this.#context;
    const [open] = await store.notices(parentSessionId, "sending", 1);
    if (open?.messageId != null && open.sender === instance.id) {
      await store.settleNotices(open.messageId, open, { state: "sending", reason: open.reason, at: now() });
    }
    this.#onForeign();
  }

  /** The host cannot notify a parent. The results can still be read, and nothing is pending. */
  async #dropAll(parentSessionId: string): Promise<void> {
    const { store, host, now } = this.#context;
    await store.dropNotices(parentSessionId, `${host.kind} cannot add a message to a session`, now());
    this.#signals.say(`quiet:${parentSessionId}`, "quiet");
  }

  /** One that is found dead is ended, so that what it sends can be taken over. */
  async #lives(id: string | null): Promise<boolean> {
    if (id === null) return false;
    const { store, instance, supervisor } = this.#context;
    const known = (await store.instances()).find((each) => each.id === id);
    if (known === undefined) return false;
    return known.id === instance.id || supervisor.lives(known) || !(await endDead(store, known));
  }

  #pause(parentSessionId: string, ms: number, isForAlone: boolean): void {
    this.#endPause(parentSessionId);
    // Somebody appeared while it failed, and is notified without a pause.
    if (this.#stopped || this.#hurried.has(parentSessionId)) return;
    if (!isForAlone) this.#again.delete(parentSessionId);
    const cancel = this.#context.after(ms, () => {
      this.#pausing.delete(parentSessionId);
      this.kick(parentSessionId);
    });
    this.#pausing.set(parentSessionId, { cancel, isForAlone });
  }

  #endPause(parentSessionId: string): void {
    this.#pausing.get(parentSessionId)?.cancel();
    this.#pausing.delete(parentSessionId);
  }
}
