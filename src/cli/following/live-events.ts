/**
 * The daemon's events for as long as a command listens, even across a daemon's exit: then the next daemon is found or
 * started, and a fresh snapshot follows. The command interprets the events.
 */
import type { Client } from "../../client/client.ts";
import type { StreamEvent } from "../../client/event-stream.ts";
import type { Connection } from "../connection.ts";

interface LiveEvent {
  client: Client;
  event: StreamEvent;
}

export async function* liveEvents(connection: Connection, signal: AbortSignal): AsyncGenerator<LiveEvent, void> {
  while (!signal.aborted) {
    const client = await connection.client();
    for await (const event of client.events({ signal })) {
      if (event.type === "reconnecting" && connection.isGone()) break;
      yield { client, event };
    }
    if (connection.isGone()) connection.forget();
  }
}
