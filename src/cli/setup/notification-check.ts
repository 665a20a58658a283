/** Whether people are told what they want to be told: what the daemon says about its channels. Changes nothing. */
import { createClient } from "../../client/client.ts";
import { findDaemon } from "../../daemon/find-daemon.ts";
import { openChannels } from "../../engine/notifications/channels/open-channels.ts";
import { quantity } from "../terminal/text.ts";
import type { CheckContext, Finding } from "./finding.ts";

const NAME = "notifications";
const ANSWER_MS = 3000;

type Shown = Record<"name" | "target", string> & { problem: string | null; failing?: string | null; failed: number };

export async function checkNotifications(context: CheckContext): Promise<Finding[]> {
  if (Object.keys(context.configuration.notifications.channels).length === 0) return [];
  const channels = (await daemonChannels(context.directory)) ?? ownChannels(context);
  return channels.map(({ name, target, problem, failing, failed }): Finding => {
    const says = `${name}: ${target}`;
    if (problem !== null) {
      const remedy = "Correct it where the daemon is started, then: asyncagents restart";
      return { name: NAME, state: "problem", says: `${says}; ${problem}`, remedy };
    }
    if (failing) {
      const remedy = `Correct it, then: asyncagents notifications test ${name}`;
      return {
        name: NAME,
        state: "problem",
        says: `${says}; what it was told last did not arrive: ${failing}`,
        remedy,
      };
    }
    if (failed === 0) return { name: NAME, state: "ok", says, remedy: null };
    const remedy = "asyncagents notifications --state failed shows why; asyncagents notifications retry tries again";
    return { name: NAME, state: "warning", says: `${says}; ${quantity(failed, "notification")} not delivered`, remedy };
  });
}

/** Null if no daemon answers. */
async function daemonChannels(directory: string): Promise<Shown[] | null> {
  const daemon = findDaemon(directory);
  if (!daemon) return null;
  const client = createClient({ url: daemon.url, token: daemon.token });
  const page = await client.notifications({ limit: 1 }, AbortSignal.timeout(ANSWER_MS)).catch(() => null);
  return page?.channels ?? null;
}

/** As a daemon that is started from here would have them. */
function ownChannels({ configuration, environment }: CheckContext): Shown[] {
  return openChannels(configuration.notifications.channels, environment).map((channel) => ({ ...channel, failed: 0 }));
}
