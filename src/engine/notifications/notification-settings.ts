/**
 * The form of channels, rules and quiet hours, as people write them in the configuration file. A secret may be written
 * as `env:NAME`; it is then read from the environment of the process that sends. No behaviour.
 */
import { z } from "zod";
import { NOTIFIED_KINDS } from "../../model/notifications/notification.ts";
import type { NotificationRule } from "../../model/notifications/notification-rules.ts";
import { isTimeZone, type QuietHours } from "../../model/notifications/quiet-hours.ts";

const MOST_CHANNELS = 20;
const MOST_RULES = 100;
const MOST_CHARS = 500;
/** Each star multiplies the work of a comparison. */
const MOST_STARS = 5;

const CHANNEL_NAME = /^[a-z0-9][a-z0-9_-]{0,39}$/i;
const FROM_ENVIRONMENT = /^env:[A-Za-z_][A-Za-z0-9_]*$/;

const NAME_WORDS = "a name has letters, digits, - and _, at most 40, and begins with a letter or a digit";

const words = z.string().min(1).max(MOST_CHARS);
const pattern = words.refine(
  (text) => text.split("*").length <= MOST_STARS + 1,
  `it may have at most ${MOST_STARS} stars`,
);
const secret = words.describe("a secret, or env:NAME for an environment variable");
const address = words
  .refine(
    (text) => FROM_ENVIRONMENT.test(text) || isWebAddress(text),
    "it must be an http or https address, or env:NAME",
  )
  .describe("an http or https address, or env:NAME for an environment variable");

const common = {
  details: z.boolean().optional().describe("false: only what happened, without texts of tasks and agents"),
  quietHours: z.boolean().optional().describe("false: the channel is not affected by quiet hours"),
};

const channelSchema = z.discriminatedUnion("type", [
  z.strictObject({
    type: z.literal("ntfy"),
    server: address.optional().describe("the server; https://ntfy.sh when absent"),
    topic: words,
    token: secret.optional(),
    priority: z.int().min(1).max(5).optional().describe("1 to 5; by kind when absent"),
    tags: z.array(z.string().min(1).max(40)).max(5).optional().describe("tags besides the one of the kind"),
    ...common,
  }),
  z.strictObject({
    type: z.literal("webhook"),
    url: address,
    secret: secret.optional().describe("signs what is sent; env:NAME for an environment variable"),
    ...common,
  }),
  z.strictObject({ type: z.literal("slack"), url: address, ...common }),
  z.strictObject({
    type: z.literal("push"),
    contact: words
      .refine(
        (text) => /^mailto:\S+@\S+$/.test(text) || isWebAddress(text),
        "it must be mailto: with an address, or an https address",
      )
      .describe("whom the push services may write to: mailto:me@example.org, or an https address"),
    ...common,
  }),
]);

export type ChannelSettings = z.infer<typeof channelSchema>;
export type ChannelType = ChannelSettings["type"];

export const channelsSchema: z.ZodType<Record<string, ChannelSettings>> = z
  .record(z.string().regex(CHANNEL_NAME, NAME_WORDS), channelSchema)
  .refine((channels) => Object.keys(channels).length <= MOST_CHANNELS, `at most ${MOST_CHANNELS} channels`);

export const notificationRulesSchema: z.ZodType<NotificationRule[]> = z
  .array(
    z.strictObject({
      kinds: z.array(z.enum(NOTIFIED_KINDS)).min(1).max(NOTIFIED_KINDS.length).optional(),
      agent: pattern.optional(),
      directory: pattern.optional(),
      launchedBy: z.enum(["person", "agent"]).optional(),
      channels: z.array(z.string().regex(CHANNEL_NAME, NAME_WORDS)).min(1).max(MOST_CHANNELS).optional(),
      urgent: z.boolean().optional(),
    }),
  )
  .max(MOST_RULES);

const timeOfDay = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'it must be a time such as "22:00"');

export const quietHoursSchema: z.ZodType<QuietHours> = z
  .strictObject({
    from: timeOfDay,
    to: timeOfDay,
    timeZone: z.string().refine(isTimeZone, "it must be a time zone such as Europe/Berlin"),
  })
  .refine(({ from, to }) => from !== to, "from and to must differ");

function isWebAddress(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) && url.username === "" && url.password === "";
}

export function isFromEnvironment(text: string): boolean {
  return FROM_ENVIRONMENT.test(text);
}

export function isUsableAddress(text: string): boolean {
  return isWebAddress(text);
}
