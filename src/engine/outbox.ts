/**
 * Delivers notices: each one once, in one message at a time per parent, by the process that handles the parent. What
 * is pending while a delivery is in flight goes into the next one. The message's id is stored before it is sent, so
 * that after a crash the session itself says whether it arrived. Does not word notices.
 */
import type { HostEvent } from "../hosts/host.ts";
import { AsyncAgentsError, messageOf } from "../model/errors.ts";
import type { Instance, Notice, Parent } from "../store/store.ts";
import type { EngineContext, NoticeView } from "./context.ts";
import { Signals } from "./signals.ts";

const GROUP = 20;
const MAX_ATTEMPTS = 8;
const QUIET_MS = 5000;
/** How long a delivered message may wait for the parent's model before the next one is sent behind it. */
const TAKEN_MS = 60_000;
const RETRY_MS = 1000;
/** How long the books wait for a turn that is about to begin, and for an idle parent to begin it. */
const SETTLE_MS = 150;
const BUSY_MS = 500;

type Word = "taken" | "idle" | "quiet";

export class Outbox {
  readonly #context: EngineContext;
  readonly #onForeign: () => void;
  readonly #busy = new Set<string>();
  readonly #again = new Set<string>();
  readonly #signals = new Signals<Word>();
  /** Parents that somebody waits for to have been told everything. */
  readonly #waitedFor = new Map<string, number>();
  /** Messages of our own, so that they are not taken for a person's. */
  readonly #sent = new Set<string>();
  /** Parents whose last delivery failed, until they are tried again. */
  readonly #pausing = new Map<string, ReturnType<typeof setTimeout>>();
  #stopped = false;

  /** `onForeign` is called when a notice waits for another living instance, which may die before it delivers. */
  constructor(context: EngineContext, onForeign: () => void) {
    this.#context = context;
    this.#onForeign = onForeign;
  }

  /** Looks after every parent that has something waiting. */
  async kickAll(): Promise<void> {
    for (const parent of await this.#context.store.parentsWithNotices()) this.kick(parent);
  }

  /** Looks after one parent; when a delivery is in flight, once more after it. Does not shorten the pause after a failure. */
  kick(parentSessionId: string): void {
    if (this.#stopped || this.#pausing.has(parentSessionId)) return;
    this.#again.add(parentSessionId);
    if (this.#busy.has(parentSessionId)) return;
    this.#busy.add(parentSessionId);
    void this.#serve(parentSessionId);
  }

  /** As `kick`, at once: somebody is there. */
  hurry(parentSessionId: string): void {
    clearTimeout(this.#pausing.get(parentSessionId));
    this.#pausing.delete(parentSessionId);
    this.kick(parentSessionId);
  }

  /** Whether the message is one that this outbox sent. */
  sent(messageId: string): boolean {
    return this.#sent.has(messageId);
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
          ...(await store.notices(parentSessionId, "pending", 1)),
          ...(await store.notices(parentSessionId, "sending", 1)),
        ];
        if (open.length === 0) break;
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
    for (const timer of this.#pausing.values()) clearTimeout(timer);
    this.#signals.stop();
  }

  async #serve(parentSessionId: string): Promise<void> {
    try {
      while (this.#again.delete(parentSessionId) && !this.#stopped) await this.#deliverAll(parentSessionId);
    } catch (thrown) {
      this.#context.log.error("notices could not be delivered; they are tried again", { error: messageOf(thrown) });
      this.#later(parentSessionId, RETRY_MS);
    } finally {
      this.#busy.delete(parentSessionId);
    }
  }

  async #deliverAll(parentSessionId: string): Promise<void> {
    const { store, instance } = this.#context;
    const parent = await store.parent(parentSessionId);
    const isMine = parent?.handler === instance.id;
    if (!this.#context.host.notify) return isMine ? this.#dropAll(parentSessionId) : undefined;
    if (!isMine) {
      const instances = await this.#instances();
      if (this.#lives(parent?.handler ?? null, instances)) return this.#onForeign();
    }
    do {
      while (!this.#stopped && (await this.#deliver(parentSessionId, parent, isMine))) {}
    } while (!this.#stopped && (await this.#settleOrphans(parentSessionId)));
  }

  /** A parent in a host that cannot be told anything: its tasks' results are there to be read, and nothing is owed. */
  async #dropAll(parentSessionId: string): Promise<void> {
    const { store, host, now } = this.#context;
    await store.dropNotices(parentSessionId, `${host.kind} cannot add a message to a session`, now());
    this.#signals.say(`quiet:${parentSessionId}`, "quiet");
  }

  async #instances(): Promise<Map<string, Instance>> {
    return new Map((await this.#context.store.instances()).map((known) => [known.id, known]));
  }

  #lives(id: string | null, instances: Map<string, Instance>): boolean {
    const known = id === null ? undefined : instances.get(id);
    return known !== undefined && this.#context.isAlive(known);
  }

  /** A group whose sender is gone either arrived, or goes back to be sent again. Says whether there was one. */
  async #settleOrphans(parentSessionId: string): Promise<boolean> {
    const { store, host, now, instance } = this.#context;
    const groups = new Map<string, Notice>();
    for (const notice of await store.notices(parentSessionId, "sending")) {
      if (notice.messageId !== null) groups.set(notice.messageId, notice);
    }
    if (groups.size === 0) return false;
    const instances = await this.#instances();
    let settled = false;
    for (const [messageId, { sender }] of groups) {
      if (sender !== instance.id && this.#lives(sender, instances)) continue;
      const arrived = await host.hasMessage?.(parentSessionId, messageId);
      await store.settleNotices(messageId, { state: arrived ? "delivered" : "pending", reason: null, at: now() });
      settled = true;
    }
    return settled;
  }

  /** Sends one message; false when nothing was left to send. */
  async #deliver(parentSessionId: string, parent: Parent | null, wake: boolean): Promise<boolean> {
    const { store, host, instance, wordNotices } = this.#context;
    const messageId = host.newMessageId();
    const notices = await store.claimNotices(parentSessionId, { sender: instance.id, messageId, limit: GROUP });
    if (notices.length === 0) return false;
    const text = wordNotices(await this.#views(notices));
    remember(this.#sent, messageId);
    const { agent = null, model = null, variant = null } = parent ?? {};
    const taken = this.#signals.wait([messageId, parentSessionId], ["taken", "idle"], TAKEN_MS);
    try {
      await host.notify?.(parentSessionId, { messageId, ...text, wake, agent, model, variant });
      this.#context.reach("notice-sent");
    } catch (thrown) {
      this.#signals.say(messageId, null);
      return this.#failed(parentSessionId, messageId, notices, thrown);
    }
    if (wake) await this.#outOfTheWay(taken);
    await this.#settle(parentSessionId, messageId, "delivered", null);
    if (wake && !this.#waitedFor.has(parentSessionId)) await taken;
    return true;
  }

  /**
   * The parent's model is asked first, the books are kept after: until then the group is on its way, and should we die,
   * the session itself shows that it arrived. A parent that is busy takes it up later; the books do not wait for that.
   */
  async #outOfTheWay(taken: Promise<unknown>): Promise<void> {
    await Promise.race([taken, Bun.sleep(BUSY_MS)]);
    if (!this.#stopped) await Bun.sleep(SETTLE_MS);
  }

  async #settle(parent: string, messageId: string, state: "delivered" | "dropped" | "pending", reason: string | null) {
    await this.#context.store.settleNotices(messageId, { state, reason, at: this.#context.now() });
    this.#signals.say(`quiet:${parent}`, "quiet");
  }

  async #views(notices: readonly Notice[]): Promise<NoticeView[]> {
    const { store } = this.#context;
    const views: NoticeView[] = [];
    for (const notice of notices) {
      const task = await store.task(notice.taskId);
      const run = task?.run.number === notice.run ? task.run : await store.run(notice.taskId, notice.run);
      if (task && run) views.push({ notice, task, run });
    }
    return views;
  }

  /** A send that failed may have arrived all the same: the session decides. Says whether to go on with this parent. */
  async #failed(parent: string, messageId: string, notices: readonly Notice[], thrown: unknown): Promise<boolean> {
    const { host, log } = this.#context;
    const gone = AsyncAgentsError.isInstance(thrown) && thrown.code === "session_gone";
    if (!gone && (await host.hasMessage?.(parent, messageId))) {
      await this.#settle(parent, messageId, "delivered", null);
      return true;
    }
    const attempts = Math.max(...notices.map((notice) => notice.attempts));
    const reason = gone ? "the parent session does not exist any more" : messageOf(thrown);
    const state = gone || attempts >= MAX_ATTEMPTS ? "dropped" : "pending";
    await this.#settle(parent, messageId, state, reason);
    log.error("a notice was not delivered", { parent, state, reason, attempts });
    if (state === "pending") this.#later(parent, Math.min(60_000, RETRY_MS * 2 ** attempts));
    return state === "dropped";
  }

  #later(parentSessionId: string, delay: number): void {
    if (this.#stopped) return;
    clearTimeout(this.#pausing.get(parentSessionId));
    const timer = setTimeout(() => {
      this.#pausing.delete(parentSessionId);
      this.kick(parentSessionId);
    }, delay);
    this.#pausing.set(parentSessionId, timer);
  }
}

function remember(sent: Set<string>, messageId: string): void {
  sent.add(messageId);
  const oldest = sent.values().next().value;
  if (sent.size > 1000 && oldest !== undefined) sent.delete(oldest);
}
