/**
 * Reads the event stream of a server, whatever happens to it, and counts how often it shows the end of each task. After
 * a reconnect, an end that was missed shows in the snapshot, which has all live tasks: one that was live and is not
 * among them has ended.
 */
import type { StreamEvent } from "../../../src/client/event-stream.ts";
import { isLive } from "../../../src/model/task.ts";
import type { FleetServer } from "./fleet.ts";

const ENDS: ReadonlySet<string> = new Set(["task.completed", "task.error", "task.cancelled"]);

export class EndReader {
  /** How often each task's end was seen. */
  readonly ends = new Map<string, number>();
  reconnects = 0;
  readonly #server: () => FleetServer;
  readonly #live = new Set<string>();
  readonly #ending = new AbortController();
  readonly #reading: Promise<void>;

  /** `server` gives the one that runs now. */
  constructor(server: () => FleetServer) {
    this.#server = server;
    this.#reading = this.#read();
  }

  async stop(): Promise<void> {
    this.#ending.abort();
    await this.#reading;
  }

  async #read(): Promise<void> {
    const { signal } = this.#ending;
    while (!signal.aborted) {
      const { client, url } = this.#server();
      for await (const event of client.events({ signal, maxWaitMs: 500 })) {
        if (event.type !== "reconnecting") this.#take(event);
        else {
          this.reconnects++;
          if (this.#server().url !== url) break;
        }
      }
    }
  }

  #take(event: StreamEvent): void {
    if (event.type === "snapshot") {
      const live = new Set(event.snapshot.tasks.filter(({ status }) => isLive(status)).map(({ id }) => id));
      const over = event.snapshot.tasks.filter(({ id }) => !live.has(id) && !this.ends.has(id));
      for (const id of new Set([...this.#live, ...over.map((task) => task.id)])) if (!live.has(id)) this.#end(id);
      for (const id of live) this.#live.add(id);
    } else if (ENDS.has(event.type) && "task" in event) this.#end(event.task.id);
    else if ("task" in event && isLive(event.task.status)) this.#live.add(event.task.id);
  }

  #end(id: string): void {
    this.#live.delete(id);
    this.ends.set(id, (this.ends.get(id) ?? 0) + 1);
  }
}
