/**
 * Delivers a parent's notices, message by message. The group and its message's id are stored before it is sent, and stay as they are
 * until the message is known to have arrived or not: a second try replaces the first, and nothing is told twice. Notices that keep
 * failing go alone. Dropped is only what the host that has the session says is gone; when to try again is for the outbox.
 */
import { isRefusal } from "../../hosts/host.ts";
import { AsyncAgentsError, messageOf } from "../../model/errors.ts";
import { pause, settlesWithin } from "../../process/deadline.ts";
import type { Notice, Parent } from "../../store/store.ts";
import type { EngineContext, NoticeView } from "../context.ts";

const GROUP = 20;
const ALONE_AFTER = 3;
/** How long a delivered message may wait for the parent's model before the next one is sent behind it. */
const TAKEN_MS = 60_000;
const LONGEST_PAUSE_MS = 60_000;
/** How long the books wait for a turn that is about to begin, and for an idle parent to begin it. */
const SETTLE_MS = 150;
const BUSY_MS = 500;
const MAX_SENT = 1000;

/** What shows that a parent has taken a message up. */
export type Answered = "taken" | "idle";

export interface DeliverySignals {
  answered(messageId: string, sessionId: string, limit: number): Promise<Answered | null>;
  /** Nobody waits for that message any more. */
  forget(messageId: string): void;
  settled(parentSessionId: string): void;
  isWaitedFor(parentSessionId: string): boolean;
  isStopped(): boolean;
}

export interface DeliveryInput {
  parent: Parent | null;
  /** This instance handles the parent: it wakes it, and may say that it is gone. */
  isMine: boolean;
  /** Whether a group of that sender may be taken over. */
  isFree(sender: string | null): Promise<boolean>;
  counts: boolean;
  /** Leave those that go alone for later. */
  freshOnly: boolean;
}

/** Why it stopped before all was told: when to try again. */
export interface Failed {
  pause: number;
  isAlone: boolean;
}

/** Grows with each failure, to a minute or what the first one takes. */
export function pauseAfter(failures: number, firstMs: number): number {
  return Math.min(Math.max(LONGEST_PAUSE_MS, firstMs), firstMs * 2 ** Math.min(failures - 1, 10));
}

export class Delivery {
  readonly #context: EngineContext;
  readonly #signals: DeliverySignals;
  /** Messages of our own, so that they are not taken for a person's. */
  readonly #sent = new Set<string>();

  constructor(context: EngineContext, signals: DeliverySignals) {
    this.#context = context;
    this.#signals = signals;
  }

  sent(messageId: string): boolean {
    return this.#sent.has(messageId);
  }

  /** Delivers what is there; null when nothing is left, or the rest is for somebody else. */
  async run(parentSessionId: string, input: DeliveryInput): Promise<Failed | null> {
    const { store, host, instance } = this.#context;
    const { counts, freshOnly } = input;
    while (!this.#signals.isStopped()) {
      const claim = { sender: instance.id, messageId: host.newMessageId(), counts, freshOnly };
      const claimed = await store.claimNotices(parentSessionId, { ...claim, limit: GROUP, aloneAfter: ALONE_AFTER });
      const notices = claimed.length > 0 ? claimed : await this.#doubtful(parentSessionId, input);
      if (notices === "settled") continue;
      const messageId = notices[0]?.messageId;
      if (messageId == null) return null;
      const failed = await this.#deliver(parentSessionId, messageId, notices, input);
      if (failed !== null) return failed;
    }
    return null;
  }

  /** The group whose message may have arrived, to be sent again as it is; or it is settled by what the session shows. */
  async #doubtful(parentSessionId: string, input: DeliveryInput): Promise<Notice[] | "settled"> {
    const { isFree, isMine, counts } = input;
    const { store, instance } = this.#context;
    const [open] = await store.notices(parentSessionId, "sending", 1);
    if (open?.messageId == null || !(await isFree(open.sender))) return [];
    const { messageId, sender } = open;
    const shown = await this.#shownOf(parentSessionId, messageId);
    if (shown === "gone" && isMine) await this.#drop(parentSessionId, messageId);
    else if (shown === "there") await this.#settle(parentSessionId, messageId, { state: "delivered", reason: null });
    else if (shown === "late")
      await this.#settle(parentSessionId, messageId, { state: "pending", reason: open.reason });
    else return store.reclaimNotices(messageId, { sender: instance.id, from: sender, counts });
    return "settled";
  }

  /** What the parent's session shows of a message. `late`: it would sort before what the parent did since, and wake nobody. */
  async #shownOf(parent: string, messageId: string): Promise<"there" | "late" | "absent" | "gone"> {
    const { host } = this.#context;
    try {
      if (await host.hasMessage?.(parent, messageId)) return "there";
      const { messages } = await host.messages(parent, { limit: 1, before: null });
      return (messages.at(-1)?.id ?? "") > messageId ? "late" : "absent";
    } catch (thrown) {
      if (isGone(thrown)) return "gone";
      throw thrown;
    }
  }

  /** Sends one message; null when it arrived, or its notices are dropped. */
  async #deliver(parentSessionId: string, messageId: string, notices: readonly Notice[], input: DeliveryInput) {
    const { host, wordNotices } = this.#context;
    const text = wordNotices(await this.#views(notices));
    this.#remember(messageId);
    const { agent = null, model = null, variant = null } = input.parent ?? {};
    const taken = this.#signals.answered(messageId, parentSessionId, TAKEN_MS);
    try {
      await host.notify?.(parentSessionId, { messageId, ...text, wake: input.isMine, agent, model, variant });
      this.#context.reach("notice-sent");
    } catch (thrown) {
      this.#signals.forget(messageId);
      return this.#failed(parentSessionId, messageId, notices, { thrown, isMine: input.isMine });
    }
    if (input.isMine) await this.#outOfTheWay(taken);
    await this.#settle(parentSessionId, messageId, { state: "delivered", reason: null });
    if (input.isMine && !this.#signals.isWaitedFor(parentSessionId)) await taken;
    return null;
  }

  /**
   * The parent's model is asked first, the books are kept after: until then the group is on its way, and should we die,
   * the session itself shows that it arrived. A parent that is busy takes it up later; the books do not wait for that.
   */
  async #outOfTheWay(taken: Promise<unknown>): Promise<void> {
    await settlesWithin(taken, { timeout: BUSY_MS });
    if (!this.#signals.isStopped()) await pause(SETTLE_MS);
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

  /** A call that failed may have had its effect: without a refusal, the group keeps its message. */
  async #failed(
    parent: string,
    messageId: string,
    notices: readonly Notice[],
    { thrown, isMine }: { thrown: unknown; isMine: boolean },
  ): Promise<Failed | null> {
    const { host, log, now, settings } = this.#context;
    const knowsNot = isGone(thrown);
    if (knowsNot && isMine) {
      await this.#drop(parent, messageId);
      return null;
    }
    if (!knowsNot && (await host.hasMessage?.(parent, messageId).catch(() => false))) {
      await this.#settle(parent, messageId, { state: "delivered", reason: null });
      return null;
    }
    const attempts = Math.max(1, ...notices.map((notice) => notice.attempts));
    const pause = pauseAfter(attempts, settings.noticeRetryMs);
    const reason = knowsNot ? `this ${host.kind} does not know the parent session` : messageOf(thrown);
    const state = isRefusal(thrown) ? "pending" : "sending";
    await this.#settle(parent, messageId, { state, reason, nextTryAt: now() + pause });
    log.error("a notice was not delivered; it is tried again", { parent, reason, attempts, pause });
    return { pause, isAlone: state === "pending" && attempts >= ALONE_AFTER && notices.length === 1 };
  }

  async #drop(parent: string, messageId: string): Promise<void> {
    const reason = "the parent session does not exist any more";
    await this.#settle(parent, messageId, { state: "dropped", reason });
    this.#context.log.error("a notice was dropped", { parent, reason });
  }

  async #settle(
    parent: string,
    messageId: string,
    outcome: { state: Notice["state"]; reason: string | null; nextTryAt?: number },
  ): Promise<void> {
    await this.#context.store.settleNotices(messageId, { ...outcome, at: this.#context.now() });
    this.#signals.settled(parent);
  }

  #remember(messageId: string): void {
    this.#sent.add(messageId);
    const oldest = this.#sent.values().next().value;
    if (this.#sent.size > MAX_SENT && oldest !== undefined) this.#sent.delete(oldest);
  }
}

function isGone(thrown: unknown): boolean {
  return AsyncAgentsError.isInstance(thrown) && thrown.code === "session_gone";
}
