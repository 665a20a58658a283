/**
 * Times that update themselves: a task's duration, every second while it is live, and how long ago something was.
 */
import type { BackgroundTask } from "../../../src/protocol/tasks.ts";
import { useNow } from "../live/clock.ts";
import { durationText, exactText, relativeText } from "../wording/durations.ts";

/** Of the newest run, as everywhere else in asyncagents. */
export function TaskDuration({ task }: { task: Pick<BackgroundTask, "run"> }) {
  const { startedAt, endedAt } = task.run;
  const now = useNow({ moves: endedAt === null });
  const end = endedAt === null ? now : Date.parse(endedAt);
  return <span>{durationText(end - Date.parse(startedAt))}</span>;
}

export function Ago({ at }: { at: string }) {
  const now = useNow({ stepMs: 10_000 });
  return (
    <time dateTime={at} title={exactText(at)}>
      {relativeText(at, now)}
    </time>
  );
}
