/**
 * The filters of the list in words, for the sentence that says what an action is about to do. Pure.
 */
import { boundsOf, type Filters, type Period } from "../routing/filters.ts";
import { exactText } from "../wording/durations.ts";

export const PERIOD_WORDS: Record<Period, string> = {
  "1h": "Last hour",
  "24h": "Last 24 hours",
  "7d": "Last 7 days",
};

/** One phrase for each filter. */
export function filterWords(filters: Filters, now: number): string[] {
  const { statuses, agent, host, directory, period, search } = filters;
  const { from, to } = boundsOf(filters, now);
  return [
    ...(statuses.length > 0 ? [statuses.join(" or ")] : []),
    ...(agent === "" ? [] : [`agent ${agent}`]),
    ...(host === "" ? [] : [`on ${host}`]),
    ...(directory === "" ? [] : [`in ${directory}`]),
    ...(period === "" ? [] : [`started in the ${PERIOD_WORDS[period].toLowerCase()}`]),
    ...(period !== "" || from === "" ? [] : [`started from ${exactText(from)}`]),
    ...(to === "" ? [] : [`started before ${exactText(to)}`]),
    ...(search === "" ? [] : [`“${search}”`]),
  ];
}
