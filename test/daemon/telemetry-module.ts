/**
 * Sets up OpenTelemetry's SDK for a daemon, as a user's module does. Sends to OTEL_EXPORTER_OTLP_ENDPOINT: spans at
 * once, measurements at the end.
 */
import { metrics, trace } from "@opentelemetry/api";
import { OTLPMetricExporter } from "@opentelemetry/exporter-metrics-otlp-http";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { MeterProvider, PeriodicExportingMetricReader } from "@opentelemetry/sdk-metrics";
import { BasicTracerProvider, type IdGenerator, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base";

export default function setUp({ idGenerator }: { idGenerator: IdGenerator }) {
  const tracers = new BasicTracerProvider({
    idGenerator,
    spanProcessors: [new SimpleSpanProcessor(new OTLPTraceExporter())],
  });
  const meters = new MeterProvider({
    readers: [new PeriodicExportingMetricReader({ exporter: new OTLPMetricExporter() })],
  });
  trace.setGlobalTracerProvider(tracers);
  metrics.setGlobalMeterProvider(meters);
  return () => Promise.all([tracers.shutdown(), meters.shutdown()]);
}
