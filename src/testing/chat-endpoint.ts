/**
 * Owns the handling of one chat-completions request: record it, refuse it or find its step, hold it, answer it.
 * Invariant: every request is recorded before it is answered, refused ones as well. A step is consumed when its request arrives;
 * a client that goes away while its answer waits does not get the step back. It opens no port.
 */
import { type ChatBody, ModelRequest, type RequestKind, refusal, textOf } from "./chat-request.ts";
import { completion, errorResponse, render, stream, type Usage } from "./chat-response.ts";
import { Gate, untilAborted } from "./gates.ts";
import { Recorder } from "./recorder.ts";
import { type Modifier, resolve, say } from "./script.ts";
import { type Planned, ScriptBook } from "./script-book.ts";

export interface RecordedRequest {
  index: number;
  /** Milliseconds since the epoch. */
  time: number;
  sessionId: string;
  kind: RequestKind;
  body: ChatBody;
  headers: Record<string, string>;
  bytes: number;
  request: ModelRequest;
  /** The step that answers it (`NAME#position`, `NAME#end`, `fallback`, `title`, `summary`), or why it was refused. */
  answeredBy: string;
  /** The status of the answer; undefined while the request is held. */
  status?: number | "aborted";
}

export interface Defaults {
  /** What a session without a script, or past its end, is told. */
  fallback?: string;
  title?: string;
  summary?: string;
  /** The usage of an answer; a function sees the request that is answered. */
  usage?: Usage | ((request: ModelRequest) => Usage);
}

export class ChatEndpoint {
  readonly book: ScriptBook;
  readonly record = new Recorder<RecordedRequest>(summarize);
  readonly #gates = new Map<string, Gate>();
  readonly #defaults: Defaults;

  constructor(defaults: Defaults) {
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
    const wrong = refusal(entry.body);
    if (wrong !== undefined) {
      entry.answeredBy = `refused: ${wrong}`;
      this.record.push(entry);
      return finish(entry, errorResponse(400, wrong));
    }
    try {
      const planned = this.#plan(entry.request);
      entry.answeredBy = planned.label;
      this.record.push(entry);
      return finish(entry, await this.#respond(entry, planned, http.signal));
    } catch (error) {
      // 400, so that the client does not try again: the script itself is wrong.
      entry.answeredBy = `broken script: ${error instanceof Error ? error.message : String(error)}`;
      if (!this.record.items.includes(entry)) this.record.push(entry);
      return finish(entry, errorResponse(400, entry.answeredBy));
    }
  }

  #entry(http: Request, text: string): RecordedRequest {
    const body = JSON.parse(text) as ChatBody;
    const request = new ModelRequest(http.headers.get("x-session-affinity") ?? "", body);
    return {
      index: this.record.items.length,
      time: Date.now(),
      sessionId: request.sessionId,
      kind: request.kind,
      body,
      headers: Object.fromEntries(http.headers),
      bytes: Buffer.byteLength(text),
      request,
      answeredBy: "",
    };
  }

  #plan(request: ModelRequest): Planned {
    const { title = "Scripted title", summary = "Scripted summary" } = this.#defaults;
    if (request.kind === "title") return { label: "title", modifiers: [], answer: say(title) };
    if (request.kind === "summary") return { label: "summary", modifiers: [], answer: say(summary) };
    return this.book.next(request);
  }

  async #respond(entry: RecordedRequest, { modifiers, answer }: Planned, signal: AbortSignal): Promise<Response> {
    await this.#hold(modifiers, entry.request, signal);
    if (signal.aborted) {
      entry.status = "aborted";
      return new Response(null, { status: 499 });
    }
    if (answer.type === "httpFailure") return errorResponse(answer.status, answer.message, answer.retryAfter);
    const rendered = render(answer, entry.request, () => `${entry.index}_${crypto.randomUUID().slice(0, 8)}`);
    const { usage = { prompt_tokens: 100, completion_tokens: 20 } } = this.#defaults;
    const write = entry.body.stream === true ? stream : completion;
    const used = typeof usage === "function" ? usage(entry.request) : usage;
    return write(rendered, entry.body.model, `chatcmpl-${entry.index}`, used);
  }

  async #hold(modifiers: Modifier[], request: ModelRequest, signal: AbortSignal): Promise<void> {
    for (const modifier of modifiers) {
      if (signal.aborted) return;
      if (modifier.type === "gate") await this.gate(resolve(modifier.name, request)).pass(signal);
      else await untilAborted(Bun.sleep(modifier.ms), signal);
    }
  }
}

function finish(entry: RecordedRequest, response: Response): Response {
  entry.status ??= response.status;
  return response;
}

function summarize(entry: RecordedRequest): string {
  const last = textOf(entry.body.messages?.at(-1)).replaceAll("\n", " ").slice(0, 80);
  return `#${entry.index} ${entry.kind} ${entry.sessionId} ${entry.answeredBy} ${entry.status ?? "held"} "${last}"`;
}
