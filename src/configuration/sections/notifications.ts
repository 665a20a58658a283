/**
 * What people are told outside of the program, and how. What channels, rules and quiet hours mean is in
 * `src/engine/notifications`. Of a channel's secrets only the name of a variable is ever shown.
 */
import {
  type ChannelSettings,
  channelsSchema,
  isFromEnvironment,
  notificationRulesSchema,
  quietHoursSchema,
} from "../../engine/notifications/notification-settings.ts";
import type { NotificationRule } from "../../model/notifications/notification-rules.ts";
import type { QuietHours } from "../../model/notifications/quiet-hours.ts";
import { nearestOf } from "../../model/text/near-words.ts";
import { optional, setting } from "../section.ts";
import type { ValueKind } from "../value-kinds.ts";

const asGiven = (text: string): unknown => text;

const channels: ValueKind<Record<string, ChannelSettings>> = {
  schema: channelsSchema,
  allowed:
    'channels by name, such as { "phone": { "type": "ntfy", "topic": "my-topic" } }; docs/notifications.md describes them',
  fromText: asGiven,
};

const rules: ValueKind<NotificationRule[]> = {
  schema: notificationRulesSchema,
  allowed:
    'a list of rules, such as [{ "kinds": ["failed"], "channels": ["phone"] }]; docs/notifications.md describes them',
  fromText: asGiven,
};

const quietHours: ValueKind<QuietHours> = {
  schema: quietHoursSchema,
  allowed: 'such as { "from": "22:00", "to": "07:00", "timeZone": "Europe/Berlin" }',
  fromText: asGiven,
};

export const notifications = {
  means: "What people are told outside of the program. For the daemon, runners, and OpenCode with the plugin.",
  settings: {
    channels: setting(channels, {
      means: "Where notifications go, by name: ntfy, webhook, slack or push. Secrets may be env:NAME.",
      default: {},
      shown: shownChannels,
    }),
    rules: setting(rules, {
      means: "Who is told what; all rules that fit count. Without rules, every channel is told everything.",
      default: [],
    }),
    quietHours: optional(quietHours, {
      means: "When only what is urgent is sent; the rest follows afterwards, as one summary.",
      otherwise: "none",
    }),
  },
  problems: unknownChannels,
};

/** A mistyped name would mean that nobody is told. */
function unknownChannels(values: Readonly<Record<string, unknown>>): string[] {
  const { channels: given = {}, rules: named = [] } = values as { channels?: object; rules?: NotificationRule[] };
  const known = Object.keys(given);
  return named.flatMap((rule, index) =>
    (rule.channels ?? [])
      .filter((name) => !known.includes(name))
      .map((name) => {
        const place = `notifications.rules[${index}] names the channel ${name}, which is not in notifications.channels`;
        const near = nearestOf(known, name);
        const names = known.length === 0 ? "There are no channels." : `Known: ${known.join(", ")}.`;
        return `${place}. ${near === undefined ? names : `Did you mean ${near}?`}`;
      }),
  );
}

const SECRETS: readonly string[] = ["url", "server", "topic", "token", "secret"];

function shownChannels(value: unknown): unknown {
  const entries = Object.entries(value as Record<string, ChannelSettings>);
  return Object.fromEntries(entries.map(([name, channel]) => [name, shownChannel(channel)]));
}

function shownChannel(channel: ChannelSettings): unknown {
  const shown = ([name, value]: [string, unknown]) =>
    SECRETS.includes(name) && !isFromEnvironment(String(value)) ? [name, "(not shown)"] : [name, value];
  return Object.fromEntries(Object.entries(channel).map(shown));
}
