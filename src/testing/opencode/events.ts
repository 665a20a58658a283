/**
 * Records the events of a running OpenCode, for all its directories, in order of arrival. Invariant: once
 * `connectEvents` has returned, no event is missed until the process exits. Interprets nothing and does not reconnect:
 * the harness connects again after a restart.
 */
import type { Event } from "@opencode-ai/sdk/v2";
import { bounded, type Recorder } from "../recorder.ts";

export type RecordedEvent = Event & {
  /** The directory whose instance emitted it; absent for events of the whole process. */
  directory?: string;
  /** When it was received, in milliseconds since the epoch. */
  at: number;
};

interface GlobalEvent {
  directory?: string;
  payload: { type: string };
}

export interface EventConnection {
  close(): void;
}

export async function connectEvents(url: string, record: Recorder<RecordedEvent>): Promise<EventConnection> {
  const controller = new AbortController();
  const from = record.items.length;
  const response = await fetch(new URL("/global/event", url), { signal: controller.signal });
  const body = response.body;
  if (!response.ok || body === null) throw new Error(`GET /global/event answered ${response.status}`);
  // Ends with an error whenever the process is killed, which some tests do on purpose.
  read(body, record).catch(() => {});
  const connected = record.waitFor((event) => event.type === "server.connected", { from, what: "server.connected" });
  await bounded(connected, 20_000, () => "the first event of OpenCode's event stream.");
  return { close: () => controller.abort() };
}

async function read(body: ReadableStream<Uint8Array<ArrayBuffer>>, record: Recorder<RecordedEvent>): Promise<void> {
  let buffer = "";
  for await (const text of body.pipeThrough(new TextDecoderStream())) {
    buffer += text;
    const blocks = buffer.split("\n\n");
    buffer = blocks.pop() ?? "";
    for (const block of blocks) recordBlock(block, record);
  }
}

function recordBlock(block: string, record: Recorder<RecordedEvent>): void {
  const data = block
    .split("\n")
    .filter((line) => line.startsWith("data:"))
    .map((line) => line.slice(5).trimStart())
    .join("\n");
  if (data === "") return;
  const { directory, payload } = JSON.parse(data) as GlobalEvent;
  // `sync` repeats every session event in the format of remote workspaces.
  if (payload.type === "sync" || payload.type === "server.heartbeat") return;
  record.push({ ...payload, ...(directory === undefined ? {} : { directory }), at: Date.now() } as RecordedEvent);
}

export function summarizeEvent(event: RecordedEvent): string {
  const detail = JSON.stringify(event.properties) ?? "";
  return `${event.type} ${detail.slice(0, 160)}`;
}
