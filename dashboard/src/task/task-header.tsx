/**
 * The top of a task's page: what it is, its state, what it waits for, and the button that cancels it.
 */
import type { BackgroundTask } from "../../../src/protocol/tasks.ts";
import { copyText } from "../browser/clipboard.ts";
import { useActions } from "../palette/actions.ts";
import { Button } from "../parts/button.tsx";
import { CopyButton } from "../parts/copy-button.tsx";
import { ForeignText } from "../parts/foreign-text.tsx";
import { Icon } from "../parts/icons.tsx";
import { PhaseMark } from "../parts/phase-mark.tsx";
import { StatusMark } from "../parts/status-mark.tsx";
import { Ago, TaskDuration } from "../parts/times.tsx";
import { navigateToList } from "../routing/location.ts";
import { Allowed } from "../session/allowed.tsx";
import { hasNotStarted } from "../wording/phase.ts";
import { isLive } from "../wording/statuses.ts";
import { CancelButton } from "./cancel-button.tsx";

export function TaskHeader({ task }: { task: BackgroundTask }) {
  // What cannot be copied is seen to by the button, which says so.
  useActions([{ id: "copy", label: "Copy the task's id", run: () => void copyText(task.id).catch(() => undefined) }]);
  return (
    <header data-task-id={task.id} data-status={task.status} className="flex flex-col gap-3">
      <div className="flex flex-wrap items-start gap-x-2 gap-y-1 sm:flex-nowrap">
        <Button weight="quiet" className="-ml-2 w-8 px-0" aria-label="Back to the list" onClick={navigateToList}>
          <Icon name="back" />
        </Button>
        <h1 className="foreign min-w-0 flex-1 basis-40 pt-0.5 text-lg leading-snug font-semibold tracking-tight sm:text-xl">
          <ForeignText text={task.description || "(no description)"} />
        </h1>
        <div className="order-last -ml-2.5 flex w-full items-center gap-1 sm:order-none sm:ml-0 sm:w-auto">
          <CopyButton label="Copy id" text={() => task.id} />
          {isLive(task) && (
            <Allowed to="cancel">
              <CancelButton task={task} />
            </Allowed>
          )}
        </div>
      </div>
      <div className="live-data flex flex-wrap items-center gap-x-4 gap-y-2 sm:pl-8">
        <StatusMark status={task.status} isWaiting={hasNotStarted(task)} />
        <span className="text-muted">
          <TaskDuration task={task} />
        </span>
        <span className="text-muted">
          started <Ago at={task.startedAt} />
        </span>
        {isLive(task) && <PhaseMark task={task} wraps />}
      </div>
    </header>
  );
}
