/**
 * Opens the telemetry of a process: lets the user's module set up the SDK, then takes its tracer and its meter from the
 * API. The only file here that others import for its value, and only where the setting is on: it loads OpenTelemetry.
 */
import { metrics, ProxyTracerProvider, trace } from "@opentelemetry/api";
import manifest from "../../../package.json" with { type: "json" };
import type { Clock } from "../../process/clock.ts";
import type { Log } from "../../process/log.ts";
import type { Store } from "../../store/store.ts";
import { instrumentsOf } from "./instruments.ts";
import { loadSetup } from "./setup-module.ts";
import type { StartedTelemetry } from "./start-telemetry.ts";
import { Telemetry } from "./telemetry.ts";
import { TraceIds } from "./trace-ids.ts";

const SCOPE = "asyncagents";
/** Of the conventions that the names follow. */
const SCHEMA = { schemaUrl: "https://opentelemetry.io/schemas/1.41.0" };

export interface OpenTelemetryContext extends Clock {
  store: Store;
  log: Log;
  newId(prefix: string): string;
}

/** Rejects if the module cannot be loaded, or fails. */
export async function openTelemetry(module: string, context: OpenTelemetryContext): Promise<StartedTelemetry> {
  const { log } = context;
  const setUp = await loadSetup(module);
  const ids = new TraceIds(context.newId);
  const returned = await setUp({ idGenerator: ids.generator });
  const provider = trace.getTracerProvider();
  let problem: string | null = null;
  if (provider instanceof ProxyTracerProvider && provider.getDelegateTracer(SCOPE) === undefined) {
    const remedy = "it must register one for traces, made with @opentelemetry/api 1.9 or newer";
    log.error("the telemetry module registered no provider that is found", { module, remedy });
    problem = `The telemetry module ${module} registered no provider that is found: ${remedy}.`;
  }
  const telemetry = new Telemetry({
    ...context,
    ids,
    tracer: provider.getTracer(SCOPE, manifest.version, SCHEMA),
    instruments: instrumentsOf(metrics.getMeter(SCOPE, manifest.version, SCHEMA)),
    shutdown: async () => {
      if (typeof returned === "function") await returned();
    },
  });
  return { telemetry, problem };
}
