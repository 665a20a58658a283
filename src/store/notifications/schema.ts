/** The tables of notifications for Kysely. No behaviour. */

export interface NotificationSchema {
  notifications: NotificationsTable;
  notification_channels: NotificationChannelsTable;
  push_subscriptions: PushSubscriptionsTable;
  push_keys: PushKeysTable;
}

interface NotificationsTable {
  id: string;
  channel: string;
  key: string;
  /** Null for what belongs to no task. */
  task_id: string | null;
  /** JSON. */
  content: string;
  urgent: number;
  state: string;
  created_at: number;
  /** Of the event that it is about; 0 if it is about none. Orders those that were created together. */
  seq: number;
  due_at: number;
  attempts: number;
  claimed_by: string | null;
  /** When the claim ends; null unless it is being sent. */
  claimed_until: number | null;
  fence: number;
  reason: string | null;
  settled_at: number | null;
  merged_into: string | null;
}

/** How far the feed was read for each channel. */
interface NotificationChannelsTable {
  channel: string;
  seq: number;
  since: number;
}

/** The browsers that get notifications by Web Push. */
interface PushSubscriptionsTable {
  endpoint: string;
  p256dh: string;
  auth: string;
  added_by: string;
  created_at: number;
}

/** The key pair of this store, with which browsers know us. */
interface PushKeysTable {
  name: string;
  public_key: string;
  private_key: string;
}
