/** Processes with telemetry on the real SDK, which keeps what they report: each has its own, as real ones do. */
import type { SpanContext } from "@opentelemetry/api";
import {
  AggregationTemporality,
  type DataPoint,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
  type ViewOptions,
} from "@opentelemetry/sdk-metrics";
import {
  BasicTracerProvider,
  type IdGenerator,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import { instrumentsOf } from "../../../src/engine/telemetry/instruments.ts";
import { Telemetry } from "../../../src/engine/telemetry/telemetry.ts";
import { TraceIds } from "../../../src/engine/telemetry/trace-ids.ts";
import { sqliteStore } from "../../../src/store/open.ts";
import type { Store } from "../../../src/store/store.ts";
import type { Side, SideOptions, World } from "../engine-bed.ts";

export interface ReportingSide extends Side {
  telemetry: Telemetry;
  /** What it has reported so far, in order. */
  spans(): Promise<ReadableSpan[]>;
  /** The values of a measurement, with their attributes: a number, or how many values a histogram has. */
  measured(name: string): Promise<{ attributes: object; value: number }[]>;
}

export interface ReportingOptions extends SideOptions {
  /** False for an SDK that makes its own ids. */
  usesIds?: boolean;
  /** What the user sets up for measurements. */
  views?: ViewOptions[];
  /** Comes between the telemetry and the database. */
  under?(store: Store): Store;
}

/** Another process in the world, which reports. */
export async function reportingSide(world: World, options: ReportingOptions = {}): Promise<ReportingSide> {
  const plain = await sqliteStore({ directory: world.directory });
  const store = options.under?.(plain) ?? plain;
  let made = 0;
  const ids = new TraceIds((prefix) => `${prefix}_${world.sides.length}_${++made}`);
  const spans = new InMemorySpanExporter();
  const given: { idGenerator?: IdGenerator } = options.usesIds === false ? {} : { idGenerator: ids.generator };
  const tracers = new BasicTracerProvider({ ...given, spanProcessors: [new SimpleSpanProcessor(spans)] });
  const values = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({ exporter: values });
  const meters = new MeterProvider({ readers: [reader], views: options.views ?? [] });
  const logged: string[] = [];
  const note = (message: string) => logged.push(message);
  const telemetry = new Telemetry({
    store,
    log: { info: note, error: note },
    now: world.now,
    monotonic: world.monotonic,
    after: world.after,
    ids,
    tracer: tracers.getTracer("test"),
    instruments: instrumentsOf(meters.getMeter("test")),
    shutdown: () => tracers.shutdown(),
  });
  const side = await world.side({ ...options, store: telemetry.store });
  telemetry.follow(side.engine);
  return {
    ...side,
    telemetry,
    logged,
    async spans() {
      await telemetry.idle();
      return spans.getFinishedSpans();
    },
    async measured(name) {
      await telemetry.idle();
      values.reset();
      await reader.forceFlush();
      const points: DataPoint<number | { count: number }>[] = [];
      for (const { scopeMetrics } of values.getMetrics()) {
        for (const { metrics } of scopeMetrics) {
          for (const { descriptor, dataPoints } of metrics) if (descriptor.name === name) points.push(...dataPoints);
        }
      }
      return points.map(({ attributes, value }) => ({
        attributes,
        value: typeof value === "number" ? value : value.count,
      }));
    },
  };
}

/** The span of a run, by the id of its task. */
export function spanOf(spans: readonly ReadableSpan[], taskId: string, run = 0): ReadableSpan {
  const found = spans.filter(
    ({ attributes }) => attributes["asyncagents.task.id"] === taskId && attributes["asyncagents.run.number"] === run,
  );
  if (found.length !== 1 || found[0] === undefined) throw new Error(`${found.length} spans of ${taskId}#${run}`);
  return found[0];
}

/** Those below a span, in the order of their start. */
export function below(spans: readonly ReadableSpan[], { traceId, spanId }: SpanContext): ReadableSpan[] {
  return spans
    .filter((span) => span.parentSpanContext?.spanId === spanId && span.spanContext().traceId === traceId)
    .toSorted((one, other) => one.startTime[0] - other.startTime[0] || one.startTime[1] - other.startTime[1]);
}

export function ms([seconds, nanoseconds]: readonly [number, number]): number {
  return seconds * 1000 + nanoseconds / 1_000_000;
}
