/**
 * The daemon's events for as long as a command listens, even across a daemon's exit: then the next daemon is found or
 * started, and a fresh snapshot follows. A command that only looks starts none, because somebody may just have stopped
 * or restarted it: it waits for the next. The command interprets the events.
 */
import type { Client } from "../../client/client.ts";
import type { StreamEvent } from "../../client/event-stream.ts";
import type { Connection } from "../connection.ts";

interface LiveEvent {
  client: Client;
  event: StreamEvent;
}

interface Following {
  /** Starts no daemon in the place of one that ended. */
  onlyLooks?: boolean;
}

export async function* liveEvents(
  connection: Connection,
  signal: AbortSignal,
  { onlyLooks = false }: Following = {},
): AsyncGenerator<LiveEvent, void> {
  while (!signal.aborted) {
    const client = await connection.client();
    for await (const event of client.events({ signal })) {
      const isGone = event.type === "reconnecting" && connection.isGone();
      if (!isGone || onlyLooks) yield { client, event };
      if (isGone) break;
    }
    if (onlyLooks) await connection.untilNext(signal);
    if (connection.isGone()) connection.forget();
  }
}
