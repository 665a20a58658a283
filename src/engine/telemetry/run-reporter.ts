/**
 * Reports one ended run: its span with those of its tool calls, and what is measured. All of it is made at the end,
 * with the times of what happened, so no span is ever open: a process that dies leaves none behind, and whoever ends
 * the run in its place reports the whole of it. Reads the store and the session; decides nothing.
 */
import {
  type Context,
  type HrTime,
  ROOT_CONTEXT,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import { AsyncAgentsError, messageOf } from "../../model/errors.ts";
import { runDuration, type Task } from "../../model/task.ts";
import { COURSE_TYPES, courseOf } from "../../model/task-course.ts";
import type { Clock } from "../../process/clock.ts";
import { within } from "../../process/deadline.ts";
import type { Log } from "../../process/log.ts";
import type { Store } from "../../store/store.ts";
import { endAttributes, inputTokens, outputTokens, runAttributes, runGroup, toolAttributes } from "./attributes.ts";
import type { Instruments } from "./instruments.ts";
import { placeOf, type RunPlace } from "./run-place.ts";
import { type ReadPage, type RunMessages, runMessages, type ToolCall } from "./tool-calls.ts";
import type { SpanIds, TraceIds } from "./trace-ids.ts";

/** A session that cannot be read in that time is reported without its tool calls. */
const READ_MS = 5_000;

export interface ReporterContext extends Clock {
  store: Store;
  log: Log;
  tracer: Tracer;
  instruments: Instruments;
  ids: TraceIds;
  /** Reads the session of a task; null if no engine here can. */
  pagesOf(task: Task): ReadPage | null;
}

export class RunReporter {
  readonly #context: ReporterContext;

  constructor(context: ReporterContext) {
    this.#context = context;
  }

  /** Never rejects: what cannot be reported is logged. */
  async report(task: Task): Promise<void> {
    const { store, log } = this.#context;
    try {
      const messages = await this.#messages(task);
      const place = await placeOf(store, task);
      const { beganAt } = courseOf(task, await store.eventsOf(task.id, COURSE_TYPES));
      this.#trace(task, place, messages);
      this.#measure(task, beganAt, messages.model);
    } catch (thrown) {
      log.error("a run is missing in the telemetry", { task: task.id, error: messageOf(thrown) });
    }
  }

  async #messages(task: Task): Promise<RunMessages> {
    const { log } = this.#context;
    const read = this.#context.pagesOf(task);
    if (read === null) return { calls: [], model: null };
    const tooLong = () => new AsyncAgentsError("host_failed", "Its session could not be read in time.");
    try {
      return await within(runMessages(task, read), { timeout: READ_MS, clock: this.#context }, tooLong);
    } catch (thrown) {
      log.error("the tool calls of a run are missing in the telemetry", { task: task.id, error: messageOf(thrown) });
      return { calls: [], model: null };
    }
  }

  #trace(task: Task, { own, parent, earlier }: RunPlace, { calls, model }: RunMessages): void {
    const { tracer, ids } = this.#context;
    const { startedAt, endedAt, outcome } = task.run;
    const above = parent && ids.areUsed ? under(parent) : ROOT_CONTEXT;
    const options = {
      kind: SpanKind.INTERNAL,
      startTime: timeOf(startedAt),
      attributes: runAttributes(task, model),
      links: earlier && ids.areUsed ? [{ context: remote(earlier) }] : [],
    };
    const span = ids.given(own, () => tracer.startSpan(`invoke_agent ${task.agent}`, options, above));
    if (outcome === "error") span.setStatus({ code: SpanStatusCode.ERROR });
    const below = trace.setSpan(ROOT_CONTEXT, span);
    for (const call of calls) this.#traceCall(call, below);
    span.end(timeOf(endedAt ?? startedAt));
  }

  #traceCall(call: ToolCall, below: Context): void {
    const { name, startedAt, endedAt, state } = call;
    const options = { kind: SpanKind.INTERNAL, startTime: timeOf(startedAt), attributes: toolAttributes(call) };
    const span = this.#context.tracer.startSpan(`execute_tool ${name}`, options, below);
    if (state !== "completed") span.setStatus({ code: SpanStatusCode.ERROR });
    span.end(timeOf(endedAt));
  }

  #measure(task: Task, beganAt: number | null, model: string | null): void {
    const { instruments, now } = this.#context;
    const group = runGroup(task, model);
    const { "error.type": errorType, ...end } = endAttributes(task);
    const failed = errorType === undefined ? {} : { "error.type": errorType };
    instruments.ended.add(1, { "asyncagents.host": task.host, ...end });
    instruments.runDuration.record(runDuration(task, now()) / 1000, { ...group, ...failed });
    instruments.tokens.record(inputTokens(task), { ...group, "gen_ai.token.type": "input" });
    instruments.tokens.record(outputTokens(task), { ...group, "gen_ai.token.type": "output" });
    const waited = (beganAt ?? task.run.endedAt ?? task.run.startedAt) - task.run.startedAt;
    instruments.queueDuration.record(Math.max(0, waited) / 1000, { "asyncagents.host": task.host });
  }
}

function under(parent: SpanIds): Context {
  return trace.setSpanContext(ROOT_CONTEXT, remote(parent));
}

function remote(ids: SpanIds): SpanContext {
  return { ...ids, traceFlags: TraceFlags.SAMPLED, isRemote: true };
}

/** In seconds and nanoseconds: a number that is smaller than the start of this process would not count as a date. */
function timeOf(ms: number): HrTime {
  return [Math.floor(ms / 1000), Math.round((ms % 1000) * 1_000_000)];
}
