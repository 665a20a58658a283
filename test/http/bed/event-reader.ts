/** Reads an event stream as bytes from a fetch, by the rules of server-sent events and not with the client's code. */

import type { TaskSnapshot } from "../../../src/protocol/events.ts";
import type { BackgroundTask } from "../../../src/protocol/tasks.ts";
import type { World } from "../../engine/engine-bed.ts";
import { atEnd } from "./api-bed.ts";

export interface RawEvent {
  /** -1 if the event has none. */
  id: number;
  name: string;
  data: string;
}

export class EventReader {
  readonly response: Response;
  readonly events: RawEvent[] = [];
  readonly #reader: { read(): Promise<{ done: boolean; value?: Uint8Array | undefined }> };
  readonly #decoder = new TextDecoder();
  readonly #abort: AbortController;
  #rest = "";
  #ahead: RawEvent[] = [];

  private constructor(response: Response, abort: AbortController) {
    if (!response.body) throw new Error("the stream has no body");
    this.response = response;
    this.#reader = response.body.getReader();
    this.#abort = abort;
  }

  /** Disconnects automatically at the end of the test. */
  static async open({ world, url }: { world: World; url: string }): Promise<EventReader> {
    const abort = new AbortController();
    atEnd(world, () => abort.abort());
    return new EventReader(await fetch(`${url}/v1/events`, { signal: abort.signal }), abort);
  }

  /** The next event; null when the stream has ended. */
  async next(): Promise<RawEvent | null> {
    while (this.#ahead.length === 0) {
      const { done, value } = await this.#reader.read();
      if (done) return null;
      const blocks = (this.#rest + this.#decoder.decode(value, { stream: true })).split("\n\n");
      this.#rest = blocks.pop() ?? "";
      this.#ahead = blocks.map(eventOf);
    }
    const event = this.#ahead.shift() ?? null;
    if (event) this.events.push(event);
    return event;
  }

  /** Reads up to the first matching event. */
  async until(fits: (event: RawEvent) => boolean): Promise<RawEvent> {
    for (;;) {
      const event = await this.next();
      if (event === null) throw new Error("the stream ended");
      if (fits(event)) return event;
    }
  }

  /** Reads up to the event with that id. */
  async through(seq: number): Promise<void> {
    const last = this.events.at(-1)?.id ?? -1;
    if (last < seq) await this.until(({ id }) => id >= seq);
  }

  /** Disconnects like a closed browser tab. */
  leave(): void {
    this.#abort.abort();
  }
}

function eventOf(block: string): RawEvent {
  const lines = block.split("\n").map((line) => /^(\w+): (.*)$/s.exec(line)?.slice(1) ?? [line, ""]);
  const fields = Object.fromEntries(lines) as Record<string, string>;
  return { id: Number(fields.id ?? -1), name: fields.event ?? "", data: fields.data ?? "" };
}

export function snapshotOf(event: RawEvent): TaskSnapshot {
  return JSON.parse(event.data);
}

export function taskOf(event: RawEvent): BackgroundTask {
  return JSON.parse(event.data);
}

/** What a page would show after these events: the snapshot's tasks with every change applied. */
export function folded(events: readonly RawEvent[]): Map<string, BackgroundTask> {
  const shown = new Map<string, BackgroundTask>();
  for (const event of events) {
    if (event.name === "snapshot") for (const task of snapshotOf(event).tasks) shown.set(task.id, task);
    else if (event.name !== "heartbeat") shown.set(taskOf(event).id, taskOf(event));
  }
  return shown;
}
