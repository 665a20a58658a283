/**
 * Delivers a parent's notices, one message at a time. A group of notices and the id of its message are stored before it
 * is sent, and stay the same until it is known whether the message arrived: a retry replaces the first message, so
 * nothing is told twice. If the parent has gone on meanwhile, a retry is placed in its past and wakes nobody; then a
 * second message points to it. Notices that keep failing are sent alone. A notice is dropped only if the parent's own
 * host says that the session is gone. The outbox decides when to retry.
 */
import { isRefusal, type NotifyInput } from "../../hosts/host.ts";
import { AsyncAgentsError, messageOf } from "../../model/errors.ts";
import { pause, settlesWithin } from "../../process/deadline.ts";
import type { Notice, Parent } from "../../store/store.ts";
import type { EngineContext, NoticeText, NoticeView } from "../context.ts";
import type { Lease } from "../recovery/lease.ts";

const GROUP = 20;
const ALONE_AFTER = 3;
/** How long a delivered message may wait for the parent's model before the next one is sent. */
const TAKEN_MS = 60_000;
const LONGEST_PAUSE_MS = 60_000;
/** How long recording a delivery waits for the turn that it causes, and for an idle parent to begin one. */
const SETTLE_MS = 150;
const BUSY_MS = 500;
const MAX_SENT = 1000;

/** What shows that a parent's model has received a message. */
export type Uptake = "taken" | "idle";

interface DeliverySignals {
  uptake(messageId: string, sessionId: string, limit: number): Promise<Uptake | null>;
  /** Nobody waits for that message any more. */
  forget(messageId: string): void;
  settled(parentSessionId: string): void;
  isWaitedFor(parentSessionId: string): boolean;
  isStopped(): boolean;
}

interface DeliveryInput {
  parent: Parent | null;
  /** This instance handles the parent: it wakes it, and may declare it gone. */
  isMine: boolean;
  /** Whether a group of that sender may be taken over. */
  isFree(sender: string | null): Promise<boolean>;
  counts: boolean;
  /** Leave notices that are sent alone for later. */
  freshOnly: boolean;
}

/** A group of notices that has a message. */
interface Group {
  messageId: string;
  notices: readonly Notice[];
  /** The parent has gone on since the message got its id. */
  isLate: boolean;
  /** None of them starts a turn. */
  isSilent: boolean;
  /** Of the lease under which it was claimed. */
  term: number;
}

/** Points to a message that was placed in the parent's past. */
const LATE_NOTICE: NoticeText = {
  visible: "A message about background tasks came late: it is above, before the last answer.",
  hidden: "Read it now: it was not there when you answered.",
};

/** When to continue, after a failure. */
interface Failed {
  pause: number;
  isAlone: boolean;
}

/** What another process may send, or the instance may not because of its lease, is looked at again soon. */
const NOT_NOW: Failed = { pause: 2_000, isAlone: false };

/** Doubles with each failure, up to a minute or `firstMs`. */
export function pauseAfter(failures: number, firstMs: number): number {
  return Math.min(Math.max(LONGEST_PAUSE_MS, firstMs), firstMs * 2 ** Math.min(failures - 1, 10));
}

export class Delivery {
  readonly #context: EngineContext;
  readonly #signals: DeliverySignals;
  /** Messages that we sent, so that they are not mistaken for a person's. */
  readonly #sent = new Set<string>();

  constructor(context: EngineContext, signals: DeliverySignals) {
    this.#context = context;
    this.#signals = signals;
  }

  get #lease(): Lease | null {
    return this.#context.supervisor.lease(this.#context.instance.id);
  }

  get #term(): number {
    return this.#lease?.term ?? 0;
  }

  /** Whether this instance knows that others do not send in its place, and have not since that term of its lease. */
  #mayAct(term: number): boolean {
    return this.#lease?.isHeld !== false && this.#term === term;
  }

  sent(messageId: string): boolean {
    return this.#sent.has(messageId);
  }

  /** Delivers what is pending. Null if nothing is left, or the rest is for another process. */
  async run(parentSessionId: string, input: DeliveryInput): Promise<Failed | null> {
    const { store, host, instance } = this.#context;
    const { counts, freshOnly } = input;
    while (!this.#signals.isStopped()) {
      const term = this.#term;
      if (!this.#mayAct(term)) return NOT_NOW;
      const claim = { sender: instance.id, messageId: host.newMessageId(), counts, freshOnly };
      const claimed = await store.claimNotices(parentSessionId, { ...claim, limit: GROUP, aloneAfter: ALONE_AFTER });
      const group = groupOf(claimed, false, term) ?? (await this.#doubtful(parentSessionId, input, term));
      if (group === "settled") continue;
      if (group === "taken") return NOT_NOW;
      if (group === null) return null;
      const failed = await this.#deliver(parentSessionId, group, input);
      if (failed !== null) return failed;
    }
    return null;
  }

  /**
   * The group whose message may have arrived, to be sent again unchanged. Or it is settled, if the session shows
   * whether the message arrived; or taken, if its sender came back meanwhile, who may give it up again.
   */
  async #doubtful(
    parentSessionId: string,
    input: DeliveryInput,
    term: number,
  ): Promise<Group | "settled" | "taken" | null> {
    const { isFree, isMine, counts } = input;
    const { store, instance } = this.#context;
    const [open] = await store.notices(parentSessionId, "sending", 1);
    if (open?.messageId == null || !(await isFree(open.sender))) return null;
    const { messageId } = open;
    const shown = await this.#shownOf(parentSessionId, messageId);
    const group = { messageId, notices: [open], isLate: false, isSilent: false, term };
    if (shown === "gone" && isMine) await this.#drop(parentSessionId, group);
    else if (shown === "there") await this.#settle(parentSessionId, group, { state: "delivered", reason: null });
    else {
      const reclaimed = await store.reclaimNotices(messageId, { sender: instance.id, from: open, counts });
      return groupOf(reclaimed, shown === "late", term) ?? "taken";
    }
    return "settled";
  }

  /**
   * What the parent's session shows of a message. `late`: it would be placed before what the parent did since then, and
   * wake nobody.
   */
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

  /** Sends one message. Null if it arrived, or its notices are dropped. */
  async #deliver(parentSessionId: string, group: Group, input: DeliveryInput): Promise<Failed | null> {
    const { wordNotices } = this.#context;
    const { messageId, notices, isLate, isSilent, term } = group;
    const wakes = input.isMine && !isSilent;
    const text = wordNotices(await this.#views(notices));
    // Others may send it, or have sent it: the next try finds out.
    if (!this.#mayAct(term)) return NOT_NOW;
    const taken = this.#signals.uptake(messageId, parentSessionId, TAKEN_MS);
    try {
      await this.#send(parentSessionId, { messageId, ...text, wake: wakes && !isLate }, input.parent);
      this.#context.reach("notice-sent");
    } catch (thrown) {
      this.#signals.forget(messageId);
      return this.#failed(parentSessionId, group, input, thrown);
    }
    if (isLate || !wakes) this.#signals.forget(messageId);
    if (isLate) {
      await this.#settleLate(parentSessionId, group, input);
      return null;
    }
    if (wakes) await this.#outOfTheWay(taken);
    await this.#settle(parentSessionId, group, { state: "delivered", reason: null });
    if (wakes && !this.#signals.isWaitedFor(parentSessionId)) await taken;
    return null;
  }

  async #send(
    parentSessionId: string,
    message: Pick<NotifyInput, "messageId" | "visible" | "hidden" | "wake">,
    parent: Parent | null,
  ): Promise<void> {
    const { agent = null, model = null, variant = null } = parent ?? {};
    this.#remember(message.messageId);
    await this.#context.host.notify?.(parentSessionId, { ...message, agent, model, variant });
  }

  /** If it cannot be settled, the parent has been woken all the same: nobody does it later. */
  async #settleLate(parentSessionId: string, group: Group, { isMine, parent }: DeliveryInput): Promise<void> {
    if (isMine && !group.isSilent && this.#mayAct(group.term)) await this.#pointToIt(parentSessionId, parent);
    await this.#settle(parentSessionId, group, { state: "delivered", reason: null });
  }

  /** The notices are told; this only wakes the parent, so it is not repeated. */
  async #pointToIt(parentSessionId: string, parent: Parent | null): Promise<void> {
    const { host, log } = this.#context;
    const message = { messageId: host.newMessageId(), ...LATE_NOTICE, wake: true };
    await this.#send(parentSessionId, message, parent).catch((thrown: unknown) => {
      log.error("a parent was not woken for a late notice", { parent: parentSessionId, error: messageOf(thrown) });
    });
  }

  /**
   * The delivery is recorded after the parent's model was asked, to keep the database out of the way. If we die before
   * that, the session itself shows that the message arrived. If the parent is busy, recording does not wait.
   */
  async #outOfTheWay(taken: Promise<unknown>): Promise<void> {
    await settlesWithin(taken, { timeout: BUSY_MS, clock: this.#context });
    if (!this.#signals.isStopped()) await pause(SETTLE_MS, { clock: this.#context });
  }

  async #views(notices: readonly Notice[]): Promise<NoticeView[]> {
    const { store } = this.#context;
    const views: NoticeView[] = [];
    for (const notice of notices) {
      const task = await store.task(notice.taskId);
      const run = task?.run.number === notice.run ? task.run : await store.run(notice.taskId, notice.run);
      if (!task || !run) continue;
      const changes = notice.kind === "ended" ? await this.#context.changesOf?.(task) : null;
      views.push({ notice, task, run, ...(changes && { changes }) });
    }
    return views;
  }

  /** A failed call may have had its effect: unless the host rejected it, the group keeps its message. */
  async #failed(parent: string, group: Group, input: DeliveryInput, thrown: unknown): Promise<Failed | null> {
    const { messageId, notices, isLate } = group;
    const { host, log, now, settings } = this.#context;
    const { isMine } = input;
    const knowsNot = isGone(thrown);
    if (knowsNot && isMine) {
      await this.#drop(parent, group);
      return null;
    }
    if (!knowsNot && (await host.hasMessage?.(parent, messageId).catch(() => false))) {
      if (isLate) await this.#settleLate(parent, group, input);
      else await this.#settle(parent, group, { state: "delivered", reason: null });
      return null;
    }
    const attempts = Math.max(1, ...notices.map((notice) => notice.attempts));
    const pause = pauseAfter(attempts, settings.noticeRetryMs);
    const reason = knowsNot ? `this ${host.kind} does not know the parent session` : messageOf(thrown);
    const state = isRefusal(thrown) ? "pending" : "sending";
    await this.#settle(parent, group, { state, reason, nextTryAt: now() + pause });
    log.error("a notice was not delivered; it is tried again", { parent, reason, attempts, pause });
    return { pause, isAlone: state === "pending" && attempts >= ALONE_AFTER && notices.length === 1 };
  }

  async #drop(parent: string, group: Group): Promise<void> {
    const reason = "the parent session does not exist any more";
    await this.#settle(parent, group, { state: "dropped", reason });
    this.#context.log.error("a notice was dropped", { parent, reason });
  }

  async #settle(
    parent: string,
    { messageId, notices }: Group,
    outcome: { state: Notice["state"]; reason: string | null; nextTryAt?: number },
  ): Promise<void> {
    const { store, now, log } = this.#context;
    const from = notices[0] ?? { sender: null, fence: 0 };
    const isSettled = await store.settleNotices(messageId, from, { ...outcome, at: now() });
    if (!isSettled) log.info("notices were taken over by another process", { parent, message: messageId });
    this.#signals.settled(parent);
  }

  #remember(messageId: string): void {
    this.#sent.add(messageId);
    const oldest = this.#sent.values().next().value;
    if (this.#sent.size > MAX_SENT && oldest !== undefined) this.#sent.delete(oldest);
  }
}

function groupOf(notices: readonly Notice[], isLate: boolean, term: number): Group | null {
  const messageId = notices[0]?.messageId ?? null;
  if (messageId === null) return null;
  return { messageId, notices, isLate, isSilent: notices.every(({ wake }) => wake === "silent"), term };
}

function isGone(thrown: unknown): boolean {
  return AsyncAgentsError.isInstance(thrown) && thrown.code === "session_gone";
}
