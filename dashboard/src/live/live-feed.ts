/**
 * The page's only event stream: holds the state of the connection and passes each snapshot and change to its
 * listeners. Keeps no tasks itself; the list's pages and the query cache do, each within its own limits.
 */
import type { Client } from "../../../src/client/client.ts";
import type { TaskSnapshot } from "../../../src/protocol/events.ts";
import type { TaskEventName } from "../../../src/protocol/task-event-names.ts";
import type { BackgroundTask } from "../../../src/protocol/tasks.ts";

export type Connection =
  | { kind: "connecting" }
  | { kind: "live" }
  /** `refusal` is the server's message if it answers, but not to this page. */
  | { kind: "reconnecting"; attempt: number; refusal: string | null };

export interface FeedListener {
  onSnapshot(snapshot: TaskSnapshot): void;
  onChange(type: TaskEventName, task: BackgroundTask): void;
  onBoard?(): void;
}

export class LiveFeed {
  #connection: Connection = { kind: "connecting" };
  readonly #connectionListeners = new Set<() => void>();
  readonly #listeners = new Set<FeedListener>();

  readonly subscribeConnection = (listener: () => void) => {
    this.#connectionListeners.add(listener);
    return () => this.#connectionListeners.delete(listener);
  };

  readonly connection = (): Connection => this.#connection;

  listen(listener: FeedListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Reads for as long as the page is open. */
  async read(client: Client, signal: AbortSignal): Promise<void> {
    for await (const event of client.events({ signal })) {
      if (event.type === "reconnecting") {
        const refusal = event.code === "not_allowed" ? event.reason : null;
        this.#stand({ kind: "reconnecting", attempt: event.attempt, refusal });
      } else if (event.type === "snapshot") {
        for (const listener of this.#listeners) listener.onSnapshot(event.snapshot);
        this.#stand({ kind: "live" });
      } else if (event.type === "board.changed") {
        for (const listener of this.#listeners) listener.onBoard?.();
      } else if (event.type !== "heartbeat") {
        for (const listener of this.#listeners) listener.onChange(event.type, event.task);
      }
    }
  }

  #stand(connection: Connection): void {
    this.#connection = connection;
    for (const listener of this.#connectionListeners) listener();
  }
}
