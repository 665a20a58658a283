/**
 * The runs of a task, newest first: the launch and each resume, with their outcomes.
 */
import type { BackgroundTask, BackgroundTaskRun } from "../../../src/protocol/tasks.ts";
import { useNow } from "../live/clock.ts";
import { ForeignText } from "../parts/foreign-text.tsx";
import { StatusMark } from "../parts/status-mark.tsx";
import { Ago } from "../parts/times.tsx";
import { useRuns } from "../server/queries.ts";
import { durationText } from "../wording/durations.ts";
import { visibleText } from "../wording/hidden-characters.ts";
import { hasNotStarted } from "../wording/phase.ts";

export function RunList({ task }: { task: BackgroundTask }) {
  const { data: runs } = useRuns(task);
  return (
    <section aria-label="Runs" className="flex flex-col gap-2">
      <h2 className="font-semibold">Runs</h2>
      <ol className="flex flex-col divide-y divide-line rounded-lg border border-line bg-surface">
        {(runs ?? []).map((run) => (
          <RunItem key={run.number} run={run} task={task} />
        ))}
      </ol>
    </section>
  );
}

function RunItem({ run, task }: { run: BackgroundTaskRun; task: BackgroundTask }) {
  const now = useNow({ moves: run.endedAt === null });
  const end = run.endedAt === null ? now : Date.parse(run.endedAt);
  return (
    <li className="flex flex-col gap-1 px-3 py-2">
      <div className="flex items-center gap-3">
        <span className="text-muted">{run.number === 0 ? "launch" : `resume ${run.number}`}</span>
        <StatusMark status={run.outcome ?? task.status} isWaiting={run.outcome === null && hasNotStarted(task)} />
        <span className="ml-auto text-muted">{durationText(end - Date.parse(run.startedAt))}</span>
      </div>
      <p className="foreign line-clamp-2 text-xs text-muted" title={visibleText(run.prompt.slice(0, 500))}>
        <ForeignText text={run.prompt} />
      </p>
      {run.error !== null && (
        <p className="foreign line-clamp-3 text-xs text-error">
          <ForeignText text={run.error} />
        </p>
      )}
      <p className="text-xs text-faint">
        <Ago at={run.startedAt} />
      </p>
    </li>
  );
}
