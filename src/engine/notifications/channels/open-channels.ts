/**
 * Makes channels from settings: fills in secrets from the environment, and says of a channel that cannot be used why
 * not. What is secret stays inside of the function that makes requests.
 */
import type { PushRecords } from "../../../store/notifications/records.ts";
import { type ChannelSettings, isFromEnvironment, isUsableAddress } from "../notification-settings.ts";
import type { Channel, ChannelRequest, Outgoing } from "./channel.ts";
import { ntfyRequest } from "./ntfy.ts";
import { pushTargets } from "./push.ts";
import { slackRequest } from "./slack.ts";
import { webhookRequest } from "./webhook.ts";

type Environment = Readonly<Record<string, string | undefined>>;
type Make = (outgoing: Outgoing) => ChannelRequest;

interface Made {
  target: string;
  targets: NonNullable<Channel["targets"]>;
}

const NTFY = "https://ntfy.sh";

/** `push`: the browsers that get notifications; only who sends needs them. */
export function openChannels(
  settings: Readonly<Record<string, ChannelSettings>>,
  environment: Environment,
  push: PushRecords | null = null,
): readonly Channel[] {
  return Object.entries(settings).map(([name, each]) => openChannel(name, each, environment, push));
}

function openChannel(
  name: string,
  settings: ChannelSettings,
  environment: Environment,
  push: PushRecords | null,
): Channel {
  const { type, details = true, quietHours = true } = settings;
  const about = { name, type, hasDetails: details, heedsQuietHours: quietHours, isForPeople: type !== "webhook" };
  try {
    const read = (text: string) => filled(text, environment);
    return { ...about, ...made(settings, read, push), problem: null };
  } catch (thrown) {
    if (!(thrown instanceof UnusableChannel)) throw thrown;
    return { ...about, target: type, targets: null, problem: thrown.message };
  }
}

class UnusableChannel extends Error {}

function made(settings: ChannelSettings, read: (text: string) => string, push: PushRecords | null): Made {
  if (settings.type === "push") {
    return { target: "Web Push to browsers", targets: (now) => pushTargets(push, settings.contact, now) };
  }
  const optional = (text: string | undefined) => (text === undefined ? undefined : read(text));
  if (settings.type === "ntfy") {
    const { topic, priority, tags = [] } = settings;
    const server = addressOf(read(settings.server ?? NTFY));
    const all = { server, topic: read(topic), token: optional(settings.token), priority, tags };
    return { target: `ntfy at ${originOf(server)}`, targets: only((outgoing) => ntfyRequest(all, outgoing)) };
  }
  const url = addressOf(read(settings.url));
  if (settings.type === "slack") {
    return {
      target: `Slack webhook at ${originOf(url)}`,
      targets: only((outgoing) => slackRequest({ url }, outgoing)),
    };
  }
  const signed = { url, secret: optional(settings.secret) };
  return { target: `webhook at ${originOf(url)}`, targets: only((outgoing) => webhookRequest(signed, outgoing)) };
}

function only(request: Make): Made["targets"] {
  return async () => [{ key: "", request }];
}

function filled(text: string, environment: Environment): string {
  if (!isFromEnvironment(text)) return text;
  const name = text.slice("env:".length);
  const value = environment[name]?.trim() ?? "";
  if (value !== "") return value;
  throw new UnusableChannel(`the environment variable ${name} is not set for this process`);
}

function addressOf(text: string): string {
  if (isUsableAddress(text)) return text;
  throw new UnusableChannel("its address is not an http or https address without a user name");
}

/** The rest of an address may be secret. */
function originOf(url: string): string {
  return new URL(url).origin;
}
