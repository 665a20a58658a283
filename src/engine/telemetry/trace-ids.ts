/**
 * The ids of spans. Those of runs follow from the task and the run, so that every process knows them: a task finds the
 * span of its parent's run, and whoever ends a run of a dead process reports it under the id that its children name.
 * OpenTelemetry's API cannot set ids: the SDK asks `generator` for them, which the user's module gives to it.
 */
import { createHash } from "node:crypto";
import type { Span } from "@opentelemetry/api";

export interface SpanIds {
  traceId: string;
  spanId: string;
}

/** What the SDK asks for ids; its own name for it is IdGenerator. */
export interface IdGenerator {
  generateTraceId(): string;
  generateSpanId(): string;
}

const TRACE_DIGITS = 32;
const SPAN_DIGITS = 16;

/** As in OpenTelemetry: hexadecimal digits, not all of them 0. */
export function traceIdOf(taskId: string, run: number): string {
  return digitsOf(`trace ${taskId} ${run}`, TRACE_DIGITS);
}

export function spanIdOf(taskId: string, run: number): string {
  return digitsOf(`span ${taskId} ${run}`, SPAN_DIGITS);
}

function digitsOf(text: string, count: number): string {
  return createHash("sha256").update(text).digest("hex").slice(0, count);
}

export class TraceIds {
  readonly generator: IdGenerator;
  /** For the span that is being started: the SDK asks before the call returns. */
  #next: SpanIds | null = null;
  #areUsed = true;

  constructor(newId: (prefix: string) => string) {
    this.generator = {
      generateTraceId: () => this.#next?.traceId ?? digitsOf(newId("trace"), TRACE_DIGITS),
      generateSpanId: () => this.#next?.spanId ?? digitsOf(newId("span"), SPAN_DIGITS),
    };
  }

  /** False once a span got another id: the SDK does not use the generator, so nobody can name the spans of others. */
  get areUsed(): boolean {
    return this.#areUsed;
  }

  /** Starts a span under these ids. With a parent, the trace is the parent's. */
  given(ids: SpanIds, start: () => Span): Span {
    this.#next = ids;
    try {
      const span = start();
      if (span.spanContext().spanId !== ids.spanId) this.#areUsed = false;
      return span;
    } finally {
      this.#next = null;
    }
  }
}
