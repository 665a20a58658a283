/**
 * What the shapes on a timeline stand for, and, where sums are given, how long each took.
 */
import type { TimelineSpan } from "../../../src/protocol/spans.ts";
import { countText } from "../wording/amounts.ts";
import { fineDurationText } from "../wording/durations.ts";
import { SPAN_WORDS } from "../wording/spans.ts";
import type { KindTotal } from "./run-shapes.ts";

type Kind = TimelineSpan["kind"];

const ORDER: readonly Kind[] = ["call", "waiting", "retrying", "paused", "stalled", "queued"];

/** Of the kinds that occur. */
export function SpanLegend({ kinds }: { kinds: ReadonlySet<Kind> }) {
  if (kinds.size === 0) return null;
  return (
    <ul aria-label="Legend" className="flex flex-wrap gap-x-4 gap-y-1 text-xs text-muted">
      {ORDER.filter((kind) => kinds.has(kind)).map((kind) => (
        <li key={kind} className="inline-flex items-center gap-1.5">
          <Swatch kind={kind} />
          {SPAN_WORDS[kind]}
        </li>
      ))}
    </ul>
  );
}

/** `restMs`: the time of the model, which has no spans. */
export function SpanTotals({ totals, restMs }: { totals: ReadonlyMap<Kind, KindTotal>; restMs: number }) {
  return (
    <dl aria-label="Time spent" className="flex flex-wrap gap-x-5 gap-y-1 text-xs text-muted">
      {ORDER.map((kind) => {
        const total = totals.get(kind);
        if (total === undefined) return null;
        const { count, failed, ms } = total;
        return (
          <div key={kind} data-total={kind} className="inline-flex items-center gap-1.5">
            <dt className="inline-flex items-center gap-1.5">
              <Swatch kind={kind} />
              {kind === "call" ? `${countText(count)} ${count === 1 ? "tool call" : "tool calls"}` : SPAN_WORDS[kind]}
            </dt>
            <dd className="font-medium text-ink">{fineDurationText(ms)}</dd>
            {failed > 0 && <dd className="text-error">{countText(failed)} failed</dd>}
          </div>
        );
      })}
      <div data-total="model" className="inline-flex items-center gap-1.5">
        <dt className="inline-flex items-center gap-1.5">
          <span aria-hidden="true" className="bar size-2.5 rounded-[3px]" data-spans="" />
          model
        </dt>
        <dd className="font-medium text-ink">{fineDurationText(restMs)}</dd>
      </div>
    </dl>
  );
}

function Swatch({ kind }: { kind: Kind }) {
  return (
    <span aria-hidden="true" className="relative size-2.5 overflow-hidden rounded-[3px]">
      <span className={`absolute inset-0 ${kind === "call" ? "span-swatch" : "span-band"}`} data-span={kind} />
    </span>
  );
}
