/**
 * What a run spent its time on, in words. Pure.
 */
import type { TimelineSpan } from "../../../src/protocol/spans.ts";
import { counted } from "./amounts.ts";

/** Complete, so that a new kind does not compile without its words. */
export const SPAN_WORDS: Record<TimelineSpan["kind"], string> = {
  call: "tool calls",
  queued: "not started",
  waiting: "waiting for a person",
  retrying: "retrying",
  paused: "paused",
  stalled: "no sign of life",
};

export function spanTitle({ kind, name, count, failed }: TimelineSpan): string {
  if (kind !== "call") return count === 1 ? SPAN_WORDS[kind] : `${SPAN_WORDS[kind]}, ${counted(count, "time")}`;
  if (count === 1) return `${name ?? "tool"}${failed > 0 ? " (failed)" : ""}`;
  const failures = failed > 0 ? `, ${failed} failed` : "";
  return `${name === null ? "" : `${name}, `}${counted(count, "call")}${failures}`;
}
