/** What the parts of a notifier are given: the store, the clock, the channels and the rules. Contains no rules. */
import type { NotificationRule } from "../../model/notifications/notification-rules.ts";
import type { QuietHours } from "../../model/notifications/quiet-hours.ts";
import type { Clock } from "../../process/clock.ts";
import type { Log } from "../../process/log.ts";
import type { Store } from "../../store/store.ts";
import type { Channel } from "./channels/channel.ts";

export interface NotifierContext extends Clock {
  store: Store;
  log: Log;
  newId(prefix: string): string;
  channels: readonly Channel[];
  rules: readonly NotificationRule[];
  quietHours: QuietHours | null;
  /** The address of the dashboard for people elsewhere, without a path; null if there is none. */
  publicUrl: string | null;
  /** Called between sending and recording it. Tests kill the process there. */
  reach?(point: "notification-sent"): void;
}
