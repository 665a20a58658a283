/**
 * The messages that our sessions wrote since their prompt, collected from OpenCode's events, so that the end of a run
 * is known without a request: requests cost OpenCode far more than events that it sends anyway. Bounded; a session that
 * exceeds the bounds, whose prompt was not seen, or whose run has ended, is not known here and has to be requested.
 */
import type { WireInfo, WireMessage, WirePart } from "./wire.ts";

const MAX_SESSIONS = 500;
const MAX_CHARS = 1_000_000;
/** For all sessions together. */
const MAX_TOTAL_CHARS = 16_000_000;

interface Transcript {
  /** The prompt before the first message. */
  messageId: string;
  /** When the prompt was added; null until it was seen. */
  promptedAt: number | null;
  /** Messages that answer an earlier prompt, which the session was still working on. */
  earlier: Set<string>;
  /** Messages that were sent into the run. */
  steering: Set<string>;
  messages: Map<string, { info: WireInfo | null; parts: Map<string, WirePart> }>;
  chars: number;
}

export class Transcripts {
  readonly #sessions = new Map<string, Transcript>();
  #chars = 0;

  /** The size of all transcripts. */
  get chars(): number {
    return this.#chars;
  }

  /** Starts over with a prompt that is about to be sent. */
  begin(sessionId: string, messageId: string): void {
    this.end(sessionId);
    this.#sessions.set(sessionId, {
      messageId,
      promptedAt: null,
      earlier: new Set(),
      steering: new Set(),
      messages: new Map(),
      chars: 0,
    });
    if (this.#sessions.size > MAX_SESSIONS) this.#dropOldest();
  }

  /** Forgets a session. */
  end(sessionId: string): void {
    this.#chars -= this.#sessions.get(sessionId)?.chars ?? 0;
    this.#sessions.delete(sessionId);
  }

  /** Forgets all sessions. */
  clear(): void {
    this.#sessions.clear();
    this.#chars = 0;
  }

  /** Remembers a message that is about to be sent into the run. */
  steer(sessionId: string, messageId: string): void {
    this.#sessions.get(sessionId)?.steering.add(messageId);
  }

  /** Whether that message is the prompt that the session is working on, or was sent into the run. */
  isOurs(sessionId: string, messageId: string): boolean {
    const transcript = this.#sessions.get(sessionId);
    return transcript?.messageId === messageId || transcript?.steering.has(messageId) === true;
  }

  /** The messages after that prompt, oldest first; null if they are not known for certain. */
  after(sessionId: string, messageId: string): WireMessage[] | null {
    const transcript = this.#sessions.get(sessionId);
    if (!transcript || transcript.promptedAt === null || transcript.messageId !== messageId) return null;
    const messages: WireMessage[] = [];
    for (const { info, parts } of transcript.messages.values()) {
      if (info === null) return null;
      messages.push({ info, parts: [...parts.values()] });
    }
    return messages;
  }

  addInfo(info: WireInfo): void {
    const transcript = this.#sessions.get(info.sessionID);
    if (!transcript) return;
    if (info.id === transcript.messageId) transcript.promptedAt ??= info.time.created;
    else if (transcript.promptedAt === null || info.time.created < transcript.promptedAt) {
      transcript.earlier.add(info.id);
      transcript.messages.delete(info.id);
    } else messageOf(transcript, info.id).info = info;
  }

  #dropOldest(): void {
    const oldest = this.#sessions.keys().next().value;
    if (oldest !== undefined) this.end(oldest);
  }

  addPart(sessionId: string, messageId: string, part: WirePart): void {
    const transcript = this.#sessions.get(sessionId);
    if (!transcript || transcript.promptedAt === null) return;
    if (messageId === transcript.messageId || transcript.earlier.has(messageId)) return;
    const { parts } = messageOf(transcript, messageId);
    const kept = essence(part);
    const growth = size(kept) - size(parts.get(part.id));
    transcript.chars += growth;
    this.#chars += growth;
    parts.set(part.id, kept);
    if (transcript.chars > MAX_CHARS) this.end(sessionId);
    while (this.#chars > MAX_TOTAL_CHARS) this.#dropOldest();
  }
}

function messageOf(transcript: Transcript, id: string) {
  const known = transcript.messages.get(id) ?? { info: null, parts: new Map<string, WirePart>() };
  transcript.messages.set(id, known);
  return known;
}

/** The fields that evidence is read from; leaves out inputs and outputs of tools. */
function essence({ id, type, text, synthetic, ignored, tool, callID, state }: WirePart): WirePart {
  return {
    id,
    type,
    text,
    synthetic,
    ignored,
    tool,
    callID,
    ...(state ? { state: { status: state.status, error: state.error } } : {}),
  };
}

function size(part: WirePart | undefined): number {
  return part ? 200 + (part.text?.length ?? 0) + (part.state?.error?.length ?? 0) : 0;
}
