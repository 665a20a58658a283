/**
 * Tells whether a session's turn has started and ended, from OpenCode's events and its status. Invariant: after an
 * accepted prompt a session counts as idle only when that prompt's turn has started and ended. The status decides;
 * events only trigger a check. Never polls, and does not judge how a turn went.
 */

import type { Recorder } from "../recorder.ts";
import type { OpenCodeClient } from "./client.ts";
import type { RecordedEvent } from "./events.ts";

interface Prompted {
  messageID: string;
  /** How many events there were before it was sent. */
  from: number;
}

export class TurnWatcher {
  /** The newest prompt of each session whose turn has not been seen to start. */
  readonly #prompted = new Map<string, Prompted>();
  readonly #client: OpenCodeClient;
  readonly #record: Recorder<RecordedEvent>;

  constructor(client: OpenCodeClient, record: Recorder<RecordedEvent>) {
    this.#client = client;
    this.#record = record;
  }

  expect(sessionId: string, prompted: Prompted): void {
    this.#prompted.set(sessionId, prompted);
  }

  /** The process is gone, and so are the prompts it had accepted. */
  forget(): void {
    this.#prompted.clear();
  }

  async idle(sessionId: string, timeoutMs: number, directory?: string): Promise<void> {
    const deadline = Date.now() + timeoutMs;
    const left = () => Math.max(1, deadline - Date.now());
    await this.#begun(sessionId, left);
    for (;;) {
      const from = this.#record.items.length;
      const status = (await this.#client.statuses(directory))[sessionId];
      if (status === undefined || status.type === "idle") return;
      const what = `session ${sessionId} to become idle (it was ${JSON.stringify(status)})`;
      await this.#record.waitFor((event) => endsTurn(event, sessionId), { what, from, timeoutMs: left() });
    }
  }

  /** An accepted prompt does not make the session busy at once: the first one of an instance takes a second. */
  async #begun(sessionId: string, left: () => number): Promise<void> {
    const prompted = this.#prompted.get(sessionId);
    if (prompted === undefined) return;
    const stored = (event: RecordedEvent) =>
      event.type === "message.part.updated" && event.properties.part.messageID === prompted.messageID;
    let from = prompted.from;
    for (const step of [stored, (event: RecordedEvent) => isBusy(event, sessionId)]) {
      const what = `the turn of prompt ${prompted.messageID} in session ${sessionId} to begin`;
      const matches = (event: RecordedEvent) => step(event) || failsPrompt(event, sessionId);
      const event = await this.#record.waitFor(matches, { what, from, timeoutMs: left() });
      if (failsPrompt(event, sessionId)) break;
      from = this.#record.items.indexOf(event) + 1;
    }
    this.#prompted.delete(sessionId);
  }
}

function isBusy(event: RecordedEvent, sessionId: string): boolean {
  if (event.type !== "session.status" || event.properties.sessionID !== sessionId) return false;
  return event.properties.status.type !== "idle";
}

function endsTurn(event: RecordedEvent, sessionId: string): boolean {
  const ends = event.type === "session.idle" || event.type === "session.deleted";
  return ends && event.properties.sessionID === sessionId;
}

function failsPrompt(event: RecordedEvent, sessionId: string): boolean {
  const fails = event.type === "session.error" || event.type === "session.deleted";
  return fails && event.properties.sessionID === sessionId;
}
