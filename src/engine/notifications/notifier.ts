/**
 * Tells people outside of the program what ended, failed or needs them. One per process; several processes on a store
 * share the work, and each notification is sent by one of them at a time. Decides when to look: after changes, and when
 * something is due. Nothing else depends on it: a failure is logged and tried again.
 */
import { AsyncAgentsError, messageOf } from "../../model/errors.ts";
import { testContent } from "../../model/notifications/notification.ts";
import { settlesWithin } from "../../process/deadline.ts";
import { isPushService, isPushSubscription, newPushKeys } from "../../process/web-push.ts";
import type { NotificationCounts, StoredNotification, StoredSubscription } from "../../store/notifications/records.ts";
import type { Trouble } from "../watching/troubles.ts";
import { ChannelSender } from "./channel-sender.ts";
import type { Channel } from "./channels/channel.ts";
import { FeedReader } from "./feed-reader.ts";
import type { NotifierContext } from "./notifier-context.ts";

/** The writer is busy with what follows from its write: reading waits a moment. */
const PAUSE_MS = 200;
const RETRY_MS = 5_000;
/** How late another process may notice that a sender died. */
const LONGEST_WAIT_MS = 60_000;
/** What nobody could send for this long is given up: it would only confuse. */
const GIVEN_UP_MS = 86_400_000;
const EXPIRE_EVERY_MS = 3_600_000;
/** How long a stop waits for what is being sent. */
const STOP_MS = 3_000;

export type { StoredNotification } from "../../store/notifications/records.ts";

export interface ChannelView extends Pick<Channel, "name" | "type" | "target" | "problem">, NotificationCounts {
  /** Why what it was told last has not arrived, in two attempts or more; null if it has. */
  failing: string | null;
}

/** One attempt may fail for any reason. */
const FAILING_ATTEMPTS = 2;
const LOOKED_AT = 50;

export class Notifier {
  readonly #context: NotifierContext;
  readonly #reader: FeedReader;
  readonly #senders: ReadonlyMap<string, ChannelSender>;
  readonly #closing = new AbortController();
  readonly #aborting = new AbortController();
  #unsubscribe: (() => void) | null = null;
  #cancel: (() => void) | null = null;
  /** When the scheduled look is due, by the clock for durations. */
  #dueAt = 0;
  #looking: Promise<void> | null = null;
  #expiredAt: number | null = null;

  constructor(context: NotifierContext) {
    this.#context = context;
    this.#reader = new FeedReader(context);
    const by = context.newId("ntr");
    const ending = { closing: this.#closing.signal, aborting: this.#aborting.signal };
    const usable = context.channels.filter(({ targets }) => targets !== null);
    this.#senders = new Map(usable.map((channel) => [channel.name, new ChannelSender(context, channel, by, ending)]));
  }

  /** Resolves when it has looked once: what happens from then on is told. */
  async start(): Promise<void> {
    const { channels, store, log } = this.#context;
    if (channels.length === 0) return;
    for (const { name, problem } of channels) {
      if (problem !== null) log.error("a channel for notifications cannot be used here", { channel: name, problem });
    }
    this.#unsubscribe = store.onChange(() => this.#lookAfter(PAUSE_MS));
    this.#looking = this.#look();
    await this.#looking;
  }

  /** Waits a moment for what is being sent. What is not sent then, another process or the next start sends. */
  async stop(): Promise<void> {
    this.#unsubscribe?.();
    this.#cancel?.();
    this.#unsubscribe = null;
    if (this.#context.channels.length === 0) return;
    this.#closing.abort();
    const idle = async () => {
      await this.#looking;
      await Promise.all([...this.#senders.values()].map((sender) => sender.idle()));
    };
    const clock = this.#context;
    const isIdle = await settlesWithin(idle(), { timeout: STOP_MS, clock });
    this.#aborting.abort();
    if (!isIdle) await settlesWithin(idle(), { timeout: STOP_MS, clock });
    this.#cancel?.();
    await this.#reader.flush().catch((thrown: unknown) => {
      const { log } = this.#context;
      log.error("how far notifications were read could not be stored; it is read again", { error: messageOf(thrown) });
    });
  }

  /** What is configured here, with what waits or failed. */
  async channels(): Promise<ChannelView[]> {
    const { notifications } = this.#context.store;
    const counts = await notifications.counts();
    const views = this.#context.channels.map(async ({ name, type, target, problem }) => {
      const tried = (await notifications.list({ channel: name, limit: LOOKED_AT })).find(isTried);
      const failing =
        tried === undefined || tried.state === "delivered" ? null : (tried.reason ?? "no reason is known");
      return { name, type, target, problem, failing, ...(counts.get(name) ?? { pending: 0, held: 0, failed: 0 }) };
    });
    return Promise.all(views);
  }

  /** Channels that nothing reaches, as one problem. */
  async troubles(): Promise<Trouble[]> {
    if (this.#context.channels.length === 0) return [];
    const lost = (await this.channels()).flatMap(({ name, problem, failing }) =>
      problem === null && failing === null ? [] : [`${name}: ${problem ?? failing}`],
    );
    if (lost.length === 0) return [];
    const next =
      "`asyncagents notifications` lists them; after a correction, `asyncagents notifications test` tries a channel.";
    return [{ kind: "notifications_failing", message: `Notifications do not arrive. ${lost.join("; ")}. ${next}` }];
  }

  /** Sends a test to a channel, whatever the rules and the time. */
  async test(name: string): Promise<StoredNotification> {
    const { channels, store, newId, now } = this.#context;
    const channel = channels.find((each) => each.name === name);
    if (channel === undefined) {
      const known = channels.map((each) => each.name).join(", ") || "none";
      const message = `There is no channel "${name.slice(0, 60)}". Configured: ${known}. Channels are in asyncagents.json, under notifications.channels.`;
      throw new AsyncAgentsError("invalid_input", message, { details: { parameter: "channel" } });
    }
    if (channel.problem !== null) {
      throw new AsyncAgentsError("invalid_input", `The channel ${name} cannot be used: ${channel.problem}.`);
    }
    const id = newId("ntf");
    const at = now();
    const row = { id, key: `test:${id}`, content: testContent(name, at), isUrgent: true, dueAt: at } as const;
    await store.notifications.add(name, [{ ...row, state: "pending", seq: null }], { seq: 0, now: at });
    this.#lookAfter(0);
    return found(await store.notifications.get(id), id);
  }

  /** The public key that browsers subscribe with; null if no channel uses Web Push. */
  async pushKey(): Promise<string | null> {
    const { channels, store } = this.#context;
    if (!channels.some(({ type }) => type === "push")) return null;
    return (await store.notifications.push.keys(newPushKeys())).publicKey;
  }

  /** Only services of known browsers are called: whoever subscribes must not choose any address. */
  async subscribe(subscription: StoredSubscription): Promise<void> {
    const { store, now } = this.#context;
    if (!isPushService(subscription.endpoint) || !isPushSubscription(subscription)) {
      const message =
        "This is not a subscription at the push service of a known browser (Chrome, Edge, Firefox, Safari).";
      throw new AsyncAgentsError("invalid_input", message, { details: { parameter: "endpoint" } });
    }
    if (await store.notifications.push.subscribe(subscription, now())) return;
    throw new AsyncAgentsError("invalid_input", "Too many browsers are subscribed. Turn the bell off in one of them.");
  }

  async unsubscribe(endpoint: string): Promise<void> {
    await this.#context.store.notifications.push.unsubscribe(endpoint);
  }

  async retry(id: string): Promise<StoredNotification> {
    const { store, now } = this.#context;
    const notification = found(await store.notifications.retry(id, now()), id);
    this.#lookAfter(0);
    return notification;
  }

  #lookAfter(ms: number): void {
    if (this.#unsubscribe === null) return;
    const at = this.#context.monotonic() + ms;
    if (this.#cancel !== null && this.#dueAt <= at) return;
    this.#cancel?.();
    this.#dueAt = at;
    const look = () => {
      this.#cancel = null;
      const before = this.#looking ?? Promise.resolve();
      this.#looking = before.then(() => this.#look());
    };
    this.#cancel = this.#context.after(ms, look, { background: true });
  }

  async #look(): Promise<void> {
    if (this.#unsubscribe === null) return;
    try {
      await this.#reader.read();
      await this.#expire();
      for (const sender of this.#senders.values()) void sender.kick().then(() => this.#wakeWhenDue());
    } catch (thrown) {
      const { log } = this.#context;
      log.error("what to notify people about could not be read; it is tried again", { error: messageOf(thrown) });
      this.#lookAfter(RETRY_MS);
    }
  }

  async #wakeWhenDue(): Promise<void> {
    const { store, now, log } = this.#context;
    try {
      const due = await store.notifications.nextDue([...this.#senders.keys()]);
      if (due !== null) this.#lookAfter(Math.min(Math.max(due - now(), PAUSE_MS), LONGEST_WAIT_MS));
    } catch (thrown) {
      log.error("what is due could not be read; it is tried again", { error: messageOf(thrown) });
      this.#lookAfter(RETRY_MS);
    }
  }

  /** No process with the channel, or with its secret, was there to send it. */
  async #expire(): Promise<void> {
    const { store, now, monotonic } = this.#context;
    const at = monotonic();
    if (this.#expiredAt !== null && at - this.#expiredAt < EXPIRE_EVERY_MS) return;
    this.#expiredAt = at;
    const reason = "no process could use the channel for a day";
    await store.notifications.expire({ dueBefore: now() - GIVEN_UP_MS, now: now(), reason });
  }
}

/** Whether it says something about its channel. */
function isTried({ state, attempts }: StoredNotification): boolean {
  return state === "delivered" || state === "failed" || (state === "pending" && attempts >= FAILING_ATTEMPTS);
}

function found(notification: StoredNotification | null, id: string): StoredNotification {
  if (notification !== null) return notification;
  const message = `There is no notification "${id.slice(0, 60)}": the id is wrong, or it is older than a week. asyncagents notifications lists them.`;
  throw new AsyncAgentsError("not_found", message);
}
