/**
 * The top of an attempt's page: its work item, its state, and the buttons that stop, merge or remove it.
 */

import type { BackgroundTask } from "../../../src/protocol/tasks.ts";
import { BackLink } from "../parts/back-link.tsx";
import { ForeignText } from "../parts/foreign-text.tsx";
import { Icon } from "../parts/icons.tsx";
import { PhaseMark } from "../parts/phase-mark.tsx";
import { Ago } from "../parts/times.tsx";
import { itemPath } from "../routing/route.ts";
import { useItem } from "../server/board-queries.ts";
import type { Attempt } from "../server/operate.ts";
import { Allowed } from "../session/allowed.tsx";
import { executorLabel, isAtWork } from "../wording/attempts.ts";
import { isLive } from "../wording/statuses.ts";
import { AttemptStateMark } from "./attempt-state-mark.tsx";
import { MergeAttempt } from "./merge-attempt.tsx";
import { RemoveAttempt } from "./remove-attempt.tsx";
import { StopAttempt } from "./stop-attempt.tsx";

export function AttemptHeader({ attempt, task }: { attempt: Attempt; task: BackgroundTask | null }) {
  const { data: item } = useItem(attempt.task_id);
  const atWork = isAtWork(attempt.state);
  return (
    <header className="flex flex-col gap-3">
      <div className="flex flex-wrap items-start gap-x-2 gap-y-2 sm:flex-nowrap">
        <BackLink href={itemPath(attempt.task_id)} label="Back to the work item" />
        <h1 className="foreign min-w-0 flex-1 basis-40 pt-0.5 text-lg leading-snug font-semibold tracking-tight sm:text-xl">
          {item ? <ForeignText text={item.title} /> : <span className="sr-only">Attempt</span>}
        </h1>
        <div className="order-last flex w-full flex-wrap items-center gap-2 sm:order-none sm:w-auto sm:flex-nowrap">
          {atWork && (
            <Allowed to="stop_attempt">
              <StopAttempt attempt={attempt} />
            </Allowed>
          )}
          {!atWork && attempt.state !== "merged" && (
            <Allowed to="merge_attempt">
              <MergeAttempt attempt={attempt} title={item?.title ?? ""} />
            </Allowed>
          )}
          {!atWork && (
            <Allowed to="remove_attempt">
              <RemoveAttempt attempt={attempt} />
            </Allowed>
          )}
        </div>
      </div>
      <div className="live-data flex flex-wrap items-center gap-x-4 gap-y-2 sm:pl-8">
        <AttemptStateMark state={attempt.state} />
        <span className="text-muted">{executorLabel(attempt.executor)}</span>
        <span className="flex min-w-0 items-center gap-1.5 text-muted">
          <Icon name="branch" className="size-3.5 text-faint" />
          <span className="foreign min-w-0 font-mono text-xs">
            <ForeignText text={attempt.workspace_branch} />
          </span>
        </span>
        <span className="text-muted">
          started <Ago at={attempt.created_at} />
        </span>
        {task && isLive(task) && task.phase !== "waiting" && <PhaseMark task={task} wraps />}
      </div>
    </header>
  );
}
