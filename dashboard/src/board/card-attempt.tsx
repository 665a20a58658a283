/**
 * The state of a work item's latest attempt, in at most two lines: what a live one is doing, or how it ended; and its
 * branch. All of it describes that one attempt; another running attempt is mentioned separately.
 */
import { AttemptStateMark } from "../attempt/attempt-state-mark.tsx";
import { ForeignText } from "../parts/foreign-text.tsx";
import { Icon } from "../parts/icons.tsx";
import { PhaseMark } from "../parts/phase-mark.tsx";
import { StatusIcon } from "../parts/status-mark.tsx";
import { useHandle } from "../server/board-queries.ts";
import type { AttemptState, ItemRow } from "../server/operate.ts";
import { useTaskIfKnown } from "../server/queries.ts";
import { executorLabel, isAtWork } from "../wording/attempts.ts";
import { visibleText } from "../wording/hidden-characters.ts";
import { phaseText } from "../wording/phase.ts";
import { isLive } from "../wording/statuses.ts";

export function CardAttempt({ item }: { item: ItemRow }) {
  const { latest_attempt_id: attemptId, latest_attempt_state: state } = item;
  if (attemptId === null || state === null) return null;
  const executor = item.latest_session_executor;
  return (
    <div className="flex min-w-0 flex-col gap-1 text-xs text-muted">
      <div className="flex min-h-5 min-w-0 items-center gap-1.5">
        {isAtWork(state) ? (
          <LiveAttempt attemptId={attemptId} sessionId={item.latest_session_id} />
        ) : (
          <EndedAttempt item={item} state={state} />
        )}
      </div>
      <div className="flex min-w-0 items-center gap-1.5 text-faint">
        {item.latest_workspace_branch !== null && (
          <>
            <Icon name="branch" className="size-3" />
            <span className="foreign truncate font-mono text-[11px]" title={visibleText(item.latest_workspace_branch)}>
              <ForeignText
                text={item.latest_workspace_branch.slice(item.latest_workspace_branch.lastIndexOf("/") + 1)}
              />
            </span>
          </>
        )}
        {executor !== null && <span className="ml-auto shrink-0 pl-1">{executorLabel(executor)}</span>}
      </div>
    </div>
  );
}

function LiveAttempt({ attemptId, sessionId }: { attemptId: string; sessionId: string | null }) {
  const handle = useHandle(attemptId, sessionId);
  const { data: task } = useTaskIfKnown(handle);
  const isShown = task !== undefined && isLive(task);
  return (
    <span data-status="running" data-attempt="live" className="flex min-w-0 items-center gap-1.5">
      {!(isShown && phaseText(task).needsAttention) && <StatusIcon status="running" />}
      {isShown ? <PhaseMark task={task} /> : "starting"}
    </span>
  );
}

function EndedAttempt({ item, state }: { item: ItemRow; state: AttemptState }) {
  return (
    <span data-attempt={state} className="flex min-w-0 items-center gap-1.5">
      <AttemptStateMark state={state} />
      {item.has_in_progress_attempt && <span className="truncate">· another is at work</span>}
    </span>
  );
}
