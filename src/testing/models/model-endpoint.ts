/**
 * Answers one request to a scripted model, in any wire format: records it, finds its step, waits, sends the answer.
 * Invariant: every request is recorded before it is answered, rejected ones included. A step is consumed when its
 * request arrives; a client that disconnects while waiting does not return the step. Opens no port.
 */

import { pause } from "../../process/deadline.ts";
import { Recorder } from "../recorder.ts";
import { Gate } from "./gates.ts";
import type { ModelRequest, RequestKind } from "./model-request.ts";
import { type Rendered, render } from "./rendered-answer.ts";
import { type Modifier, resolve, say } from "./script.ts";
import { type Planned, ScriptBook } from "./script-book.ts";

/** A request in its own wire format. */
export interface WireRequest extends ModelRequest {
  readonly body: object;
}

export interface RecordedRequest<R extends WireRequest = WireRequest> {
  index: number;
  /** Milliseconds since the epoch. */
  time: number;
  sessionId: string;
  kind: RequestKind;
  body: R["body"];
  headers: Record<string, string>;
  bytes: number;
  request: R;
  /**
   * The step that answers it (`NAME#position`, `NAME#end`, `fallback`, `title`, `summary`, `probe`), or why it was
   * rejected.
   */
  answeredBy: string;
  /** The status of the response; undefined while the request is held. */
  status?: number | "aborted";
}

export interface ModelDefaults<R extends WireRequest, U> {
  /** The answer for a session without a script, or past its end. */
  fallback?: string;
  title?: string;
  summary?: string;
  /** The usage of an answer; a function gets the request that is being answered. */
  usage?: U | ((request: R) => U);
}

/** What differs between the formats. */
export interface Wire<R extends WireRequest, U> {
  usage: U;
  read(headers: Headers, body: unknown): R;
  /** Why a real provider would respond with 400; undefined if it would accept the request. */
  refusal(body: R["body"]): string | undefined;
  error(status: number, message: string, headers?: Record<string, string>): Response;
  newCallId(index: number): string;
  write(rendered: Rendered, entry: RecordedRequest<R>, usage: U): Response;
}

export class ModelEndpoint<R extends WireRequest, U extends object> {
  readonly book: ScriptBook;
  readonly record = new Recorder<RecordedRequest<R>>(summarize);
  readonly wire: Wire<R, U>;
  readonly #gates = new Map<string, Gate>();
  readonly #defaults: ModelDefaults<R, U>;

  constructor(wire: Wire<R, U>, defaults: ModelDefaults<R, U>) {
    this.wire = wire;
    this.#defaults = defaults;
    this.book = new ScriptBook(say(defaults.fallback ?? "ok"));
  }

  gate(name: string): Gate {
    const known = this.#gates.get(name) ?? new Gate(name);
    this.#gates.set(name, known);
    return known;
  }

  openAllGates(): void {
    for (const gate of this.#gates.values()) gate.open();
  }

  async answer(http: Request): Promise<Response> {
    const entry = this.#entry(http, await http.text());
    const wrong = this.wire.refusal(entry.body);
    if (wrong !== undefined) {
      entry.answeredBy = `refused: ${wrong}`;
      this.record.push(entry);
      return finish(entry, this.wire.error(400, wrong));
    }
    try {
      const planned = this.#plan(entry.request);
      entry.answeredBy = planned.label;
      this.record.push(entry);
      return finish(entry, await this.#respond(entry, planned, http.signal));
    } catch (error) {
      // 400, so that the client does not retry: the script itself is wrong.
      entry.answeredBy = `broken script: ${error instanceof Error ? error.message : String(error)}`;
      if (!this.record.items.includes(entry)) this.record.push(entry);
      return finish(entry, this.wire.error(400, entry.answeredBy));
    }
  }

  #entry(http: Request, text: string): RecordedRequest<R> {
    const request = this.wire.read(http.headers, JSON.parse(text));
    return {
      index: this.record.items.length,
      time: Date.now(),
      sessionId: request.sessionId,
      kind: request.kind,
      body: request.body,
      headers: Object.fromEntries(http.headers),
      bytes: Buffer.byteLength(text),
      request,
      answeredBy: "",
    };
  }

  #plan(request: R): Planned {
    const { title = "Scripted title", summary = "Scripted summary" } = this.#defaults;
    const own = { title, summary, probe: "ok" };
    if (request.kind === "turn") return this.book.next(request);
    return { label: request.kind, modifiers: [], answer: say(own[request.kind]) };
  }

  async #respond(entry: RecordedRequest<R>, { modifiers, answer }: Planned, signal: AbortSignal): Promise<Response> {
    await this.#hold(modifiers, entry.request, signal);
    if (signal.aborted) {
      entry.status = "aborted";
      return new Response(null, { status: 499 });
    }
    if (answer.type === "httpFailure") return this.wire.error(answer.status, answer.message, answer.headers);
    const rendered = render(answer, entry.request, () => this.wire.newCallId(entry.index));
    const { usage = this.wire.usage } = this.#defaults;
    return this.wire.write(rendered, entry, typeof usage === "function" ? usage(entry.request) : usage);
  }

  async #hold(modifiers: Modifier[], request: R, signal: AbortSignal): Promise<void> {
    for (const modifier of modifiers) {
      if (signal.aborted) return;
      if (modifier.type === "gate") await this.gate(resolve(modifier.name, request)).pass(signal);
      else await pause(modifier.ms, { signal });
    }
  }
}

function finish<R extends WireRequest>(entry: RecordedRequest<R>, response: Response): Response {
  entry.status ??= response.status;
  return response;
}

function summarize<R extends WireRequest>(entry: RecordedRequest<R>): string {
  const last = (entry.request.turns.at(-1)?.text ?? "").replaceAll("\n", " ").slice(0, 80);
  return `#${entry.index} ${entry.kind} ${entry.request.speaker} ${entry.answeredBy} ${entry.status ?? "held"} "${last}"`;
}
