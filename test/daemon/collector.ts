/** A collector of the test's own: an OTLP/HTTP receiver on loopback that keeps what arrives. */

export interface ReceivedSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: Record<string, unknown>;
  links: { traceId: string; spanId: string }[];
  /** 2 for an error. */
  status: { code?: number };
}

export interface Collector {
  url: string;
  spans: ReceivedSpan[];
  /** The newest value of each measurement, by name: all attributes together; of a histogram, the number of values. */
  sums: Map<string, number>;
  /** Resolves when enough spans have come. */
  came(fits: (span: ReceivedSpan) => boolean, count?: number): Promise<ReceivedSpan[]>;
  stop(): void;
}

interface Value {
  stringValue?: string;
  intValue?: number | string;
  doubleValue?: number;
}

interface Point {
  asInt?: number | string;
  asDouble?: number;
  count?: number | string;
}

interface Metric {
  name: string;
  sum?: { dataPoints: Point[] };
  gauge?: { dataPoints: Point[] };
  histogram?: { dataPoints: Point[] };
}

type SentSpan = Omit<ReceivedSpan, "attributes" | "links"> & {
  attributes: { key: string; value: Value }[];
  links?: ReceivedSpan["links"];
};

interface Sent {
  resourceSpans?: { scopeSpans: { spans: SentSpan[] }[] }[];
  resourceMetrics?: { scopeMetrics: { metrics: Metric[] }[] }[];
}

export function startCollector(): Collector {
  const spans: ReceivedSpan[] = [];
  const sums = new Map<string, number>();
  const waiting = new Set<() => void>();
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const { resourceSpans = [], resourceMetrics = [] } = (await request.json()) as Sent;
      for (const { scopeSpans } of resourceSpans) {
        for (const scope of scopeSpans) spans.push(...scope.spans.map(receivedSpan));
      }
      for (const { scopeMetrics } of resourceMetrics) {
        for (const { metrics } of scopeMetrics) for (const metric of metrics) sums.set(metric.name, sumOf(metric));
      }
      for (const look of waiting) look();
      return Response.json({});
    },
  });
  return {
    url: server.url.origin,
    spans,
    sums,
    came: (fits, count = 1) =>
      new Promise((resolve) => {
        const look = () => {
          const found = spans.filter(fits);
          if (found.length < count) return;
          waiting.delete(look);
          resolve(found);
        };
        waiting.add(look);
        look();
      }),
    stop: () => void server.stop(true),
  };
}

function receivedSpan({ attributes, links, ...span }: SentSpan): ReceivedSpan {
  const plain = ({ stringValue, intValue, doubleValue }: Value) => stringValue ?? Number(intValue ?? doubleValue);
  const named = Object.fromEntries(attributes.map(({ key, value }) => [key, plain(value)]));
  return { ...span, attributes: named, links: links ?? [] };
}

function sumOf({ sum, gauge, histogram }: Metric): number {
  const points = [...(sum?.dataPoints ?? []), ...(gauge?.dataPoints ?? []), ...(histogram?.dataPoints ?? [])];
  return points.reduce((total, { asInt, asDouble, count }) => total + Number(asInt ?? asDouble ?? count), 0);
}
