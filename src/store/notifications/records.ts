/**
 * What the store knows about notifications: what each channel is told, and how far it got. A channel's rows are written
 * together with its position in the feed, so that nothing is forgotten or derived twice. Sending one takes a claim with
 * a lease; who lost it cannot record anything. No behaviour.
 */
import type { NotificationContent } from "../../model/notifications/notification.ts";
import type { PushKeys, PushSubscription } from "../../process/web-push.ts";

/**
 * `held`: waits for the end of quiet hours. `merged`: another one, a summary, tells it. `failed`: given up, until
 * somebody tries again.
 */
export const NOTIFICATION_STATES = ["pending", "held", "merged", "delivered", "failed"] as const;
export type NotificationState = (typeof NOTIFICATION_STATES)[number];

export interface NewNotification {
  /** Stays the same however often it is sent: receivers recognise it. */
  id: string;
  /** What it is about, once for each channel. */
  key: string;
  content: NotificationContent;
  isUrgent: boolean;
  /** `held` until `dueAt`, or to be sent now. */
  state: "pending" | "held";
  dueAt: number;
}

export interface StoredNotification extends Omit<NewNotification, "state"> {
  channel: string;
  state: NotificationState;
  createdAt: number;
  attempts: number;
  /** Why the last attempt failed. */
  reason: string | null;
  settledAt: number | null;
  /** Grows with each claim: who names an earlier one has lost it. */
  fence: number;
}

/** A channel's place in the feed: everything up to it has been looked at. */
export interface ChannelPosition {
  seq: number;
  /** When the channel was first seen: what is older is not told. */
  since: number;
}

export interface NotificationClaim {
  channel: string;
  by: string;
  leaseMs: number;
  /** The caller's clock; a store that serves several machines uses its own. */
  now: number;
}

export type NotificationOutcome =
  | { state: "delivered" }
  | { state: "pending"; reason: string; dueAt: number }
  | { state: "failed"; reason: string };

export interface NotificationCounts {
  pending: number;
  held: number;
  failed: number;
}

/** A browser that gets notifications by Web Push. */
export interface StoredSubscription extends PushSubscription {
  addedBy: string;
}

export interface PushRecords {
  /** The key pair of this store; the given one if it has none yet. */
  keys(made: PushKeys): Promise<PushKeys>;
  /** Without those whose token does not work any more. Oldest first; there are at most 50. */
  subscriptions(now: number): Promise<StoredSubscription[]>;
  /** False if there are too many. One that is known is replaced. */
  subscribe(subscription: StoredSubscription, now: number): Promise<boolean>;
  /** False if it was not there. */
  unsubscribe(endpoint: string): Promise<boolean>;
}

export interface NotificationRecords {
  readonly push: PushRecords;
  /** The channel's position; a new one begins at `seq`. */
  open(channel: string, start: ChannelPosition): Promise<ChannelPosition>;
  /**
   * Adds what a channel is told about entries up to `seq`, and moves its position there. Those up to the stored
   * position, and keys that the channel has, are left out: another process was faster. Returns how many were added.
   * Also forgets what was settled more than a week ago.
   */
  add(
    channel: string,
    notifications: readonly (NewNotification & { seq: number | null })[],
    at: { seq: number; now: number },
  ): Promise<number>;
  /** Claims the oldest that is due; null if there is none. One whose lease is over is due again. */
  claim(claim: NotificationClaim): Promise<StoredNotification | null>;
  /** Records how an attempt ended. False, and without effect, if the claim was lost. */
  settle(id: string, fence: number, outcome: NotificationOutcome, now: number): Promise<boolean>;
  /**
   * What a summary would contain: held ones that are due, and untried pending ones if there are more than `most` of
   * them. At most 500, oldest first.
   */
  mergeable(channel: string, options: { now: number; most: number | null }): Promise<StoredNotification[]>;
  /** Replaces some by a summary of them, in one step. False if one of them has changed meanwhile: then nothing is. */
  merge(channel: string, parts: readonly StoredNotification[], summary: NewNotification, now: number): Promise<boolean>;
  /** Makes held ones that are due pending, as they are. */
  release(channel: string, ids: readonly string[]): Promise<void>;
  /** Gives up those of any channel that were due before a time and that nobody could send. Returns how many. */
  expire(what: { dueBefore: number; now: number; reason: string }): Promise<number>;
  /** When the next one of these channels is due, or its claim ends; null if nothing waits. */
  nextDue(channels: readonly string[]): Promise<number | null>;
  /** Makes a failed one due again, with all its attempts. Null if there is no such notification. */
  retry(id: string, now: number): Promise<StoredNotification | null>;
  get(id: string): Promise<StoredNotification | null>;
  /** Newest first; at most `limit` (default 50, at most 200). */
  list(query: { state?: NotificationState; channel?: string; limit?: number }): Promise<StoredNotification[]>;
  /** By channel. */
  counts(): Promise<Map<string, NotificationCounts>>;
}
