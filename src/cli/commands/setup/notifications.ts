/**
 * `notifications`: the channels, and what was sent to them; sends a test, and tries a failed one again. The daemon does
 * it, with its own settings and environment: what works here works when nobody watches.
 */
import type { Client } from "../../../client/client.ts";
import { AsyncAgentsError } from "../../../model/errors.ts";
import { pause } from "../../../process/deadline.ts";
import type { WireChannel, WireNotification } from "../../../protocol/notifications.ts";
import type { Command, Invocation } from "../../command.ts";
import { EXIT } from "../../exit-codes.ts";
import type { Paint } from "../../terminal/paint.ts";
import { type Column, tableLines } from "../../terminal/table.ts";
import { ago, oneLine, shortId } from "../../terminal/text.ts";

const SHOWN = 20;
const STATES = ["pending", "held", "merged", "delivered", "failed"] as const;
/** Longer than one attempt takes. */
const ATTEMPT_MS = 20_000;
const LOOK_MS = 200;

const listCommand: Command = {
  name: "notifications",
  summary: "list where notifications go, and what was sent",
  details:
    "Channels and rules are in asyncagents.json, under notifications. A notification that could not be delivered is tried ten times within about an hour and a half, then it has failed.",
  options: {
    state: { value: "state", summary: `only those: ${STATES.join(", ")}`, completes: STATES },
    channel: { value: "name", summary: "only those of a channel" },
    limit: { value: "number", summary: `at most this many, up to 200; ${SHOWN} by default` },
  },
  examples: ["asyncagents notifications", "asyncagents notifications --state failed"],
  async run({ arguments: given, connection, screen }) {
    const client = await connection.client();
    const [state, channel] = [stateOf(given.text("state")), given.text("channel")];
    const limit = given.count("limit") ?? SHOWN;
    const page = await client.notifications({ limit, ...(state && { state }), ...(channel && { channel }) });
    screen.show(page, () => {
      if (page.channels.length === 0) {
        screen.hint("No channels are configured. They go into asyncagents.json: docs/notifications.md describes them.");
      }
      for (const line of tableLines(channelColumns(screen.paint), page.channels, screen)) screen.line(line);
      if (page.channels.length > 0 && page.notifications.length > 0) screen.line("");
      const columns = notificationColumns(Date.now(), screen.paint);
      for (const line of tableLines(columns, page.notifications, screen)) screen.line(line);
    });
    return EXIT.ok;
  },
};

const testCommand: Command = {
  name: "notifications test",
  summary: "send a test to a channel, and say whether it arrived",
  operands: [{ name: "channel" }],
  examples: ["asyncagents notifications test phone"],
  async run(invocation) {
    const client = await invocation.connection.client();
    return follow(invocation, client, await client.testNotification({ channel: invocation.arguments.operand(0) }));
  },
};

const retryCommand: Command = {
  name: "notifications retry",
  summary: "try a failed notification again",
  operands: [{ name: "id" }],
  examples: ["asyncagents notifications retry 3f2a9c01"],
  async run(invocation) {
    const client = await invocation.connection.client();
    const { id } = await resolve(client, invocation.arguments.operand(0));
    return follow(invocation, client, await client.retryNotification(id));
  },
};

export const NOTIFICATION_COMMANDS: readonly Command[] = [listCommand, testCommand, retryCommand];

function stateOf(given: string | undefined): (typeof STATES)[number] | undefined {
  const known = STATES.find((state) => state === given);
  if (known !== undefined || given === undefined) return known;
  throw new AsyncAgentsError("invalid_input", `--state is one of ${STATES.join(", ")}, not "${given.slice(0, 40)}".`);
}

/** By its id, or the part of it that is shown. */
async function resolve(client: Client, given: string): Promise<WireNotification> {
  const { notifications } = await client.notifications({ limit: 200 });
  const found = notifications.filter(({ id }) => id === given || id.endsWith(given));
  const [first] = found;
  if (first !== undefined && found.length === 1) return first;
  const what = found.length === 0 ? "There is no notification" : "More than one notification ends with";
  throw new AsyncAgentsError("not_found", `${what} "${given.slice(0, 60)}". asyncagents notifications lists them.`);
}

/** Waits for the attempt that was asked for. */
async function follow({ screen, signal }: Invocation, client: Client, first: WireNotification): Promise<number> {
  let shown = first;
  const isOver = () => shown.settledAt !== null || shown.reason !== first.reason || shown.attempts > first.attempts + 1;
  for (let waited = 0; waited < ATTEMPT_MS && !isOver() && !signal.aborted; waited += LOOK_MS) {
    await pause(LOOK_MS, { signal });
    const { notifications } = await client.notifications({ channel: first.channel, limit: 200 });
    shown = notifications.find(({ id }) => id === first.id) ?? shown;
  }
  const isDelivered = shown.state === "delivered";
  screen.show(shown, () => {
    if (isDelivered) screen.line(`Delivered to ${shown.channel}.`);
    else if (isOver()) screen.line(`Not delivered to ${shown.channel}: ${oneLine(shown.reason ?? shown.state)}.`);
    else screen.line(`No process has sent it to ${shown.channel} yet. Look again: asyncagents notifications`);
  });
  return isDelivered ? EXIT.ok : EXIT.failed;
}

function channelColumns(paint: Paint): Column<WireChannel>[] {
  return [
    { title: "CHANNEL", cell: ({ name }) => name },
    { title: "TARGET", cell: ({ target }) => target, least: 12 },
    { title: "PENDING", cell: ({ pending }) => String(pending), right: true },
    { title: "HELD", cell: ({ held }) => String(held), right: true },
    { title: "FAILED", cell: ({ failed }) => String(failed), right: true },
    {
      title: "PROBLEM",
      cell: ({ problem, failing }) => oneLine(problem ?? failing ?? "-"),
      least: 8,
      paint: (text) => paint.red(text),
    },
  ];
}

function notificationColumns(now: number, paint: Paint): Column<WireNotification>[] {
  const painted = (text: string, { state }: WireNotification) => {
    if (state === "failed") return paint.red(text);
    return state === "delivered" || state === "merged" ? paint.dim(text) : paint.yellow(text);
  };
  return [
    { title: "ID", cell: ({ id }) => shortId(id) },
    { title: "CHANNEL", cell: ({ channel }) => channel },
    { title: "STATE", cell: ({ state }) => state, paint: painted },
    { title: "TRIES", cell: ({ attempts }) => String(attempts), right: true },
    { title: "WHEN", cell: ({ createdAt }) => ago(createdAt, now) },
    { title: "WHAT", cell: ({ title }) => oneLine(title), least: 16 },
    { title: "REASON", cell: ({ reason }) => oneLine(reason ?? "-"), least: 10 },
  ];
}
