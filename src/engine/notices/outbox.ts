/**
 * When notices are delivered, and by whom: by the process that handles the parent, one parent at a time each, and again after a
 * growing pause where it failed. Nothing is given up here: a notice ends as delivered, or dropped where its parent is gone.
 * What one delivery does is `delivery.ts`'s matter; does not word notices.
 */
import type { HostEvent } from "../../hosts/host.ts";
import { messageOf } from "../../model/errors.ts";
import type { EngineContext } from "../context.ts";
import { type Answered, Delivery, pauseAfter } from "./delivery.ts";
import { Signals } from "./signals.ts";

const QUIET_MS = 5000;
/** Who waits for a parent to be told everything does not wait for what failed so often. */
const WAITED_ATTEMPTS = 5;

type Word = Answered | "quiet";

interface Pause {
  timer: ReturnType<typeof setTimeout>;
  /** It is for notices that go alone; others need not wait for it. */
  isForAlone: boolean;
}

export class Outbox {
  readonly #context: EngineContext;
  readonly #onForeign: () => void;
  readonly #delivery: Delivery;
  readonly #busy = new Set<string>();
  readonly #again = new Set<string>();
  /** Parents of which somebody is there: what is tried now does not count. */
  readonly #hurried = new Set<string>();
  readonly #signals = new Signals<Word>();
  /** Parents that somebody waits for to have been told everything. */
  readonly #waitedFor = new Map<string, number>();
  /** Parents whose last delivery failed, until they are tried again. */
  readonly #pausing = new Map<string, Pause>();
  /** How often in a row a parent could not even be looked after. */
  readonly #troubles = new Map<string, number>();
  #stopped = false;

  /** `onForeign` is called when a notice waits for another living instance, which may die before it delivers. */
  constructor(context: EngineContext, onForeign: () => void) {
    this.#context = context;
    this.#onForeign = onForeign;
    this.#delivery = new Delivery(context, {
      answered: (messageId, sessionId, limit) =>
        this.#signals.wait([messageId, sessionId], ["taken", "idle"], limit).then((word) => word as Answered | null),
      forget: (messageId) => this.#signals.say(messageId, null),
      settled: (parent) => this.#signals.say(`quiet:${parent}`, "quiet"),
      isWaitedFor: (parent) => this.#waitedFor.has(parent),
      isStopped: () => this.#stopped,
    });
  }

  /** Looks after every parent that has something waiting. */
  async kickAll(): Promise<void> {
    let page = await this.#context.store.parentsWithNotices();
    while (page.length > 0) {
      for (const parent of page) this.kick(parent);
      page = await this.#context.store.parentsWithNotices(page.at(-1));
    }
  }

  /** Looks after one parent; when a delivery is in flight, once more after it. Does not shorten the pause after a failure. */
  kick(parentSessionId: string): void {
    if (this.#stopped || this.#pausing.get(parentSessionId)?.isForAlone === false) return;
    this.#again.add(parentSessionId);
    if (this.#busy.has(parentSessionId)) return;
    this.#busy.add(parentSessionId);
    void this.#serve(parentSessionId);
  }

  /** As `kick`, at once: somebody is there. */
  hurry(parentSessionId: string): void {
    this.#endPause(parentSessionId);
    this.#hurried.add(parentSessionId);
    this.kick(parentSessionId);
  }

  /** Whether the message is one that this outbox sent. */
  sent(messageId: string): boolean {
    return this.#delivery.sent(messageId);
  }

  take(event: HostEvent): void {
    if (event.type === "message.taken") this.#signals.say(event.messageId, "taken");
    else if (event.type === "session.idle") this.#signals.say(event.sessionId, "idle");
  }

  /**
   * Resolves when nothing is pending or on its way for the parent. The parent itself may be waiting here, and then takes
   * nothing up: so meanwhile no delivery waits for the one before it to be taken.
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
    for (const { timer } of this.#pausing.values()) clearTimeout(timer);
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
    // Only its own host knows whether a session is there: another one would take it for deleted.
    if (parent !== null && (parent.host ?? host.kind) !== host.kind) return;
    const isMine = parent?.handler === instance.id;
    if (!host.notify) return isMine ? this.#dropAll(parentSessionId) : undefined;
    if (!isMine && (await this.#lives(parent?.handler ?? null))) return this.#leaveTo(parentSessionId);
    const isFree = async (sender: string | null) => sender === instance.id || !(await this.#lives(sender));
    const counts = !this.#hurried.delete(parentSessionId);
    const freshOnly = this.#pausing.has(parentSessionId);
    const failed = await this.#delivery.run(parentSessionId, { parent, isMine, isFree, counts, freshOnly });
    if (failed !== null) this.#pause(parentSessionId, failed.pause, failed.isAlone);
  }

  /** The parent is another process's now: what this one has sent in vain is for that one to send again. */
  async #leaveTo(parentSessionId: string): Promise<void> {
    const { store, instance, now } = this.#context;
    const [open] = await store.notices(parentSessionId, "sending", 1);
    if (open?.messageId != null && open.sender === instance.id) {
      await store.settleNotices(open.messageId, { state: "sending", reason: open.reason, at: now() });
    }
    this.#onForeign();
  }

  /** A parent in a host that cannot be told anything: its tasks' results are there to be read, and nothing is owed. */
  async #dropAll(parentSessionId: string): Promise<void> {
    const { store, host, now } = this.#context;
    await store.dropNotices(parentSessionId, `${host.kind} cannot add a message to a session`, now());
    this.#signals.say(`quiet:${parentSessionId}`, "quiet");
  }

  async #lives(id: string | null): Promise<boolean> {
    if (id === null) return false;
    const known = (await this.#context.store.instances()).find((instance) => instance.id === id);
    return known !== undefined && this.#context.isAlive(known);
  }

  #pause(parentSessionId: string, ms: number, isForAlone: boolean): void {
    this.#endPause(parentSessionId);
    // Somebody came while it failed, and is to be told at once.
    if (this.#stopped || this.#hurried.has(parentSessionId)) return;
    if (!isForAlone) this.#again.delete(parentSessionId);
    const timer = setTimeout(() => {
      this.#pausing.delete(parentSessionId);
      this.kick(parentSessionId);
    }, ms);
    this.#pausing.set(parentSessionId, { timer, isForAlone });
  }

  #endPause(parentSessionId: string): void {
    clearTimeout(this.#pausing.get(parentSessionId)?.timer);
    this.#pausing.delete(parentSessionId);
  }
}
