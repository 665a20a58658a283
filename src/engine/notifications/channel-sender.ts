/**
 * Sends what one channel is told, one at a time. Each attempt takes a claim with a lease first; whoever dies in between
 * leaves it to others, who send it again under the same id. Failures are repeated with growing pauses, a bounded number
 * of times, and then shown as failed. Does not decide when to look.
 */
import { messageOf } from "../../model/errors.ts";
import { type NotificationContent, summaryOf, withoutDetails } from "../../model/notifications/notification.ts";
import type { NotificationOutcome, StoredNotification } from "../../store/notifications/records.ts";
import type { Channel, ChannelTarget, Outgoing } from "./channels/channel.ts";
import type { NotifierContext } from "./notifier-context.ts";
import { type Posted, post } from "./post.ts";

/** Longer than an attempt can take. */
const LEASE_MS = 60_000;
export const MOST_ATTEMPTS = 10;
const FIRST_PAUSE_MS = 10_000;
const LONGEST_PAUSE_MS = 3_600_000;
/** More at once become a summary, where people read it. */
const MOST_AT_ONCE = 20;
/** Of how many it is known who has them: others may have settled them. */
const KEPT = 200;

interface SenderSignals {
  /** Nothing more is begun. */
  closing: AbortSignal;
  /** What is being sent is broken off. */
  aborting: AbortSignal;
}

export class ChannelSender {
  readonly #context: NotifierContext;
  readonly #channel: Channel;
  readonly #by: string;
  readonly #ending: SenderSignals;
  /** Who has what is tried again, as far as this process knows, by its id. */
  readonly #reached = new Map<string, Set<string>>();
  #running: Promise<void> | null = null;
  #again = false;

  constructor(context: NotifierContext, channel: Channel, by: string, ending: SenderSignals) {
    this.#context = context;
    this.#channel = channel;
    this.#by = by;
    this.#ending = ending;
  }

  /** Resolves when nothing is being sent. */
  async idle(): Promise<void> {
    await this.#running;
  }

  /** Sends what is due; if it is sending, it looks again afterwards. Resolves when nothing is due any more. */
  kick(): Promise<void> {
    this.#again = true;
    this.#running ??= this.#run().finally(() => {
      this.#running = null;
    });
    return this.#running;
  }

  async #run(): Promise<void> {
    const { log } = this.#context;
    try {
      while (this.#again && !this.#ending.closing.aborted) {
        this.#again = false;
        await this.#merge();
        while (!this.#ending.closing.aborted && (await this.#sendNext()));
      }
    } catch (thrown) {
      const { name: channel } = this.#channel;
      log.error("notifications could not be sent; they are tried again", { channel, error: messageOf(thrown) });
    }
  }

  /** What was held, or came all at once, is told in one. */
  async #merge(): Promise<void> {
    const { store, now, newId } = this.#context;
    const { name, isForPeople } = this.#channel;
    const at = now();
    const parts = await store.notifications.mergeable(name, { now: at, most: isForPeople ? MOST_AT_ONCE : null });
    if (parts.length === 0) return;
    if (parts.length === 1) return store.notifications.release(name, [parts[0]?.id ?? ""]);
    const id = newId("ntf");
    const content = summaryOf(
      parts.map((part) => part.content),
      at,
    );
    const isUrgent = parts.some((part) => part.isUrgent);
    const summary = { id, key: `summary:${id}`, content, isUrgent, state: "pending", dueAt: at } as const;
    await store.notifications.merge(name, parts, summary, at);
  }

  /** False if nothing is due. */
  async #sendNext(): Promise<boolean> {
    const { store, now, log } = this.#context;
    const { name: channel } = this.#channel;
    const claim = { channel, by: this.#by, leaseMs: LEASE_MS, now: now() };
    const claimed = await store.notifications.claim(claim);
    if (claimed === null) return false;
    const outcome = await this.#attempt(claimed);
    const { id, fence, attempts } = claimed;
    if (outcome.state !== "delivered") {
      log.error("a notification was not delivered", { channel, id, attempts, reason: outcome.reason });
    }
    if (outcome.state !== "pending") this.#reached.delete(id);
    await store.notifications.settle(id, fence, outcome, now());
    return true;
  }

  async #attempt({ id, content, attempts }: StoredNotification): Promise<NotificationOutcome> {
    const { now, reach } = this.#context;
    const { targets, hasDetails } = this.#channel;
    if (targets === null || attempts > MOST_ATTEMPTS) {
      return { state: "failed", reason: "the processes that sent it ended before they could record it" };
    }
    const shown = hasDetails ? content : withoutDetails(content);
    const outgoing = { id, content: shown, link: this.#linkOf(content), at: now() };
    const receivers = await targets(now());
    if (receivers.length === 0)
      return { state: "failed", reason: "no browser is subscribed: the bell on the dashboard does it" };
    const posted = await this.#sendTo(receivers, outgoing);
    if (posted.isDelivered) {
      reach?.("notification-sent");
      return { state: "delivered" };
    }
    const { reason, pauseMs } = posted;
    if (attempts >= MOST_ATTEMPTS) return { state: "failed", reason };
    return { state: "pending", reason, dueAt: now() + Math.max(pauseMs, pauseAfterAttempt(attempts)) };
  }

  /** To all who do not have it, at once. One failure is enough for another attempt. */
  async #sendTo(receivers: readonly ChannelTarget[], outgoing: Outgoing): Promise<Posted> {
    const options = { clock: this.#context, signal: this.#ending.aborting };
    const reached = this.#reached.get(outgoing.id) ?? new Set();
    this.#reached.set(outgoing.id, reached);
    for (const oldest of this.#reached.keys()) if (this.#reached.size > KEPT) this.#reached.delete(oldest);
    const send = async ({ key, request, gone }: ChannelTarget): Promise<Posted> => {
      const posted = await post(request(outgoing), options);
      if (posted.isDelivered) reached.add(key);
      if (posted.isDelivered || !posted.isGone || gone === undefined) return posted;
      await gone();
      return { isDelivered: true };
    };
    const all = await Promise.all(receivers.filter(({ key }) => !reached.has(key)).map(send));
    return all.find(({ isDelivered }) => !isDelivered) ?? { isDelivered: true };
  }

  /** A page of the dashboard, which asks for a token. There is never one in the address. */
  #linkOf({ taskId }: NotificationContent): string | null {
    const { publicUrl } = this.#context;
    if (publicUrl === null) return null;
    return taskId === null ? `${publicUrl}/` : `${publicUrl}/tasks/${encodeURIComponent(taskId)}`;
  }
}

function pauseAfterAttempt(attempts: number): number {
  return Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (attempts - 1));
}
