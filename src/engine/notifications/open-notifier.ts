/** Makes the notifier of a process from its settings. */
import type { NotificationRule } from "../../model/notifications/notification-rules.ts";
import type { QuietHours } from "../../model/notifications/quiet-hours.ts";
import type { Clock } from "../../process/clock.ts";
import { openChannels } from "./channels/open-channels.ts";
import type { ChannelSettings } from "./notification-settings.ts";
import { Notifier } from "./notifier.ts";
import type { NotifierContext } from "./notifier-context.ts";

export interface NotificationSettings {
  channels: Readonly<Record<string, ChannelSettings>>;
  rules: readonly NotificationRule[];
  quietHours?: QuietHours | undefined;
}

export interface NotifierOptions extends Pick<NotifierContext, "store" | "log" | "newId" | keyof Clock> {
  settings: NotificationSettings;
  /** The first is put into links. */
  publicUrls: readonly string[];
  environment: Readonly<Record<string, string | undefined>>;
}

/** It does nothing until it is started, and nothing at all without channels. */
export function openNotifier({ settings, publicUrls, environment, ...context }: NotifierOptions): Notifier {
  return new Notifier({
    ...context,
    channels: openChannels(settings.channels, environment, context.store.notifications.push),
    rules: settings.rules,
    quietHours: settings.quietHours ?? null,
    publicUrl: publicUrls[0]?.replace(/\/+$/, "") ?? null,
  });
}
