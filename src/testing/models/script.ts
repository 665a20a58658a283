/**
 * The step language of the scripted model: its answers to the successive requests of one session. Invariant: a request
 * consumes exactly one answer, together with the delays and gates before it. Knows neither HTTP nor the wire format,
 * and keeps no cursor: a script is plain data that many sessions can share.
 */
import type { ModelRequest } from "./model-request.ts";

export { markerOf as scriptMarker } from "../../hosts/scripted/script.ts";

/** A value, or a function of the request that is being answered (to use ids from earlier tool results). */
export type FromRequest<T extends string | number | object> = T | ((request: ModelRequest) => T);

export interface ModelCall {
  name: string;
  input: FromRequest<Record<string, unknown>>;
}

export type Answer =
  | { type: "text"; text: FromRequest<string>; chunks: number }
  | { type: "toolCalls"; text: FromRequest<string>; calls: ModelCall[] }
  | { type: "httpFailure"; status: number; message: string; headers: Record<string, string>; times: number }
  | { type: "empty" }
  | { type: "huge"; bytes: number }
  | { type: "cut"; text: string }
  | { type: "hang"; text: string };

export type Modifier = { type: "delay"; ms: number } | { type: "gate"; name: FromRequest<string> };

export type Step = Answer | Modifier;
export type Script = readonly Step[];

/** Answers with a text and ends the turn; `chunks` is the number of pieces to stream it in. */
export function say(text: FromRequest<string>, options: { chunks?: number } = {}): Answer {
  return { type: "text", text, chunks: options.chunks ?? 2 };
}

/** Calls one tool. */
export function call(
  name: string,
  input: FromRequest<Record<string, unknown>> = {},
  text: FromRequest<string> = "",
): Answer {
  return { type: "toolCalls", text, calls: [{ name, input }] };
}

/** Calls several tools in one answer, after an optional text. */
export function calls(list: ModelCall[], text: FromRequest<string> = ""): Answer {
  return { type: "toolCalls", text, calls: list };
}

/** Delays the next answer. */
export function pause(ms: number): Modifier {
  return { type: "delay", ms };
}

/** Holds the next answer until the test opens the named gate. All sessions share gates by name. */
export function gate(name: FromRequest<string>): Modifier {
  return { type: "gate", name };
}

/**
 * Answers with an HTTP error, `times` times in a row (Infinity: always), before the script continues. `retryAfter`: in
 * seconds, as a header.
 */
export function fail(
  status: number,
  message: string,
  options: { retryAfter?: number; headers?: Record<string, string>; times?: number } = {},
): Answer {
  const { times = 1, retryAfter, headers = {} } = options;
  const after: Record<string, string> = retryAfter === undefined ? {} : { "retry-after": String(retryAfter) };
  return { type: "httpFailure", status, message, times, headers: { ...after, ...headers } };
}

/** Ends the turn without any content. */
export function empty(): Answer {
  return { type: "empty" };
}

/** Answers with that many bytes of text. */
export function huge(bytes: number): Answer {
  return { type: "huge", bytes };
}

/** Streams the text, then breaks the connection without a finish reason. */
export function cut(text: string): Answer {
  return { type: "cut", text };
}

/** Streams the text, and then nothing more, with the connection open. */
export function hang(text: string): Answer {
  return { type: "hang", text };
}

export function resolve<T extends string | number | object>(value: FromRequest<T>, request: ModelRequest): T {
  return typeof value === "function" ? (value as (request: ModelRequest) => T)(request) : value;
}

export function isModifier(step: Step): step is Modifier {
  return step.type === "delay" || step.type === "gate";
}
