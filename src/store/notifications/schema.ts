/** The tables of notifications for Kysely. No behaviour. */

export interface NotificationSchema {
  notifications: NotificationsTable;
  notification_channels: NotificationChannelsTable;
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
