/**
 * The measurements, by OpenTelemetry's conventions for generative AI where they have one, otherwise under our own name.
 * Each is taken by the process that wrote what is measured, so the sum over all processes counts everything once.
 */
import type { Counter, Histogram, Meter, ObservableGauge } from "@opentelemetry/api";

export interface Instruments {
  runDuration: Histogram;
  tokens: Histogram;
  launched: Counter;
  ended: Counter;
  queueDuration: Histogram;
  noticeMessages: Counter;
  noticeDelay: Histogram;
  live: ObservableGauge;
}

/** In seconds, as people would group the duration of runs. */
const RUN_SECONDS = [1, 5, 15, 30, 60, 120, 300, 900, 3600, 14_400];
const WAIT_SECONDS = [0.1, 0.5, 1, 5, 15, 60, 300, 900, 3600, 14_400];
const TOKENS = [1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864];

export function instrumentsOf(meter: Meter): Instruments {
  const histogram = (name: string, unit: string, description: string, explicitBucketBoundaries: number[]) =>
    meter.createHistogram(name, { unit, description, advice: { explicitBucketBoundaries } });
  const counter = (name: string, unit: string, description: string) => meter.createCounter(name, { unit, description });
  return {
    runDuration: histogram("gen_ai.client.operation.duration", "s", "How long runs took, with waiting", RUN_SECONDS),
    tokens: histogram("gen_ai.client.token.usage", "{token}", "Tokens that a run used", TOKENS),
    launched: counter("asyncagents.tasks", "{task}", "Tasks that were launched"),
    ended: counter("asyncagents.runs", "{run}", "Runs that ended, by outcome"),
    queueDuration: histogram("asyncagents.queue.duration", "s", "How long runs waited before they began", WAIT_SECONDS),
    noticeMessages: counter("asyncagents.notices", "{message}", "Messages with notices, by what became of them"),
    noticeDelay: histogram("asyncagents.notice.delay", "s", "From what a notice tells to its delivery", WAIT_SECONDS),
    live: meter.createObservableGauge("asyncagents.runs.live", {
      unit: "{run}",
      description: "Runs that this process drives, by phase",
    }),
  };
}
