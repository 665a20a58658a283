/**
 * The inside of a run's bar: times without work as bands, tool calls as one shape for each look, however many there
 * are. Only for the eye: whoever shows it says the same in words.
 */
import { useMemo } from "react";
import type { TimelineSpan } from "../../../src/protocol/spans.ts";
import { shapesOf } from "./run-shapes.ts";
import "./timeline.css";

interface RunSpansProps {
  spans: readonly TimelineSpan[];
  runMs: number;
  mostLanes: number;
}

export function RunSpans({ spans, runMs, mostLanes }: RunSpansProps) {
  const { bands, paths, lanes } = useMemo(() => shapesOf(spans, runMs, mostLanes), [spans, runMs, mostLanes]);
  return (
    <span aria-hidden="true" className="absolute inset-0 overflow-hidden rounded-[inherit]">
      {bands.map(({ kind, start, width }) => (
        <span
          key={`${kind} ${start}`}
          data-span={kind}
          className="span-band absolute inset-y-0 min-w-px"
          style={{ left: `${start * 100}%`, width: `${width * 100}%` }}
        />
      ))}
      <svg
        viewBox={`0 0 1 ${lanes}`}
        preserveAspectRatio="none"
        aria-hidden="true"
        className="absolute inset-x-0 inset-y-[18%] h-[64%] w-full overflow-visible"
      >
        {paths.map(({ look, path }) => (
          <path key={look} data-calls={look} d={path} className="span-calls" vectorEffect="non-scaling-stroke" />
        ))}
      </svg>
    </span>
  );
}
