/**
 * Times that update themselves: a task's duration, every second while it is live, and how long ago something was.
 */
import type { BackgroundTask } from "../../../src/protocol/tasks.ts";
import { useNow, useTextOfNow } from "../live/clock.ts";
import { durationText, exactText, relativeText } from "../wording/durations.ts";

/** Of the newest run, as everywhere else in asyncagents. */
export function TaskDuration({ task }: { task: Pick<BackgroundTask, "run"> }) {
  const { startedAt, endedAt } = task.run;
  const now = useNow({ moves: endedAt === null });
  const end = endedAt === null ? now : Date.parse(endedAt);
  return <span>{durationText(end - Date.parse(startedAt))}</span>;
}

export function Ago({ at }: { at: string }) {
  const text = useTextOfNow((now) => relativeText(at, now));
  return (
    <time dateTime={at} title={exactText(at)}>
      {text}
    </time>
  );
}
