/**
 * One task: what it is and its state, what it said and did, and the actions on it.
 */
import { type RefObject, useRef, useState } from "react";
import type { BackgroundTask } from "../../../src/protocol/tasks.ts";
import { useMedia } from "../browser/media.ts";
import { Budgets } from "../budget/budgets.tsx";
import { Conversation } from "../conversation/conversation.tsx";
import { Fold } from "../conversation/fold.tsx";
import { LongText } from "../conversation/long-text.tsx";
import { RichText } from "../conversation/rich-text.tsx";
import { FamilyKeys } from "../family/family-keys.tsx";
import { Button } from "../parts/button.tsx";
import { ChangeList } from "../parts/change-list.tsx";
import { FailureNote } from "../parts/failure-note.tsx";
import { ForeignText } from "../parts/foreign-text.tsx";
import { useReadingPlace } from "../reading/use-reading-place.ts";
import { Link } from "../routing/link.tsx";
import { codeOf } from "../server/failure.ts";
import { useTask } from "../server/queries.ts";
import { Allowed } from "../session/allowed.tsx";
import { TaskTimeline } from "../timeline/task-timeline.tsx";
import { costText, counted } from "../wording/amounts.ts";
import { isLive } from "../wording/statuses.ts";
import { AnswerBox } from "./answer-box.tsx";
import { NextForm } from "./next-form.tsx";
import { ParentNotice } from "./parent-notice.tsx";
import { RunList } from "./run-list.tsx";
import { TaskFacts } from "./task-facts.tsx";
import { TaskFamily } from "./task-family.tsx";
import { TaskHeader } from "./task-header.tsx";
import { TaskWorktree } from "./task-worktree.tsx";

interface TaskPageProps {
  id: string;
  scroller: RefObject<HTMLElement | null>;
}

export function TaskPage({ id, scroller }: TaskPageProps) {
  const { data: task, error, isPending, refetch } = useTask(id);
  if (task) return <LoadedTask key={id} task={task} scroller={scroller} onReload={() => void refetch()} />;
  return (
    <div className="mx-auto flex w-full max-w-3xl flex-col gap-4 p-5">
      <h1 className="sr-only">Task</h1>
      {isPending ? (
        <p className="text-muted">Loading the task…</p>
      ) : (
        <FailureNote
          title={codeOf(error) === "task_not_found" ? "There is no such task" : "The task could not be loaded"}
          failure={error}
          {...(codeOf(error) === "task_not_found" ? {} : { onRetry: () => void refetch() })}
        />
      )}
      <Link href="/" className="self-start text-accent underline underline-offset-2">
        All tasks
      </Link>
    </div>
  );
}

interface LoadedTaskProps {
  task: BackgroundTask;
  scroller: RefObject<HTMLElement | null>;
  onReload: () => void;
}

function LoadedTask({ task, scroller, onReload }: LoadedTaskProps) {
  const content = useRef<HTMLDivElement>(null);
  const place = useReadingPlace(scroller, content);
  // Decided once: a conversation being followed ends where the reader is, and nothing is inserted above it.
  const [endsBelow] = useState(isLive(task));
  const end = (
    <>
      <ParentNotice task={task} />
      <TaskWorktree task={task} />
      <Outcome task={task} onReload={onReload} />
      {!isLive(task) && (
        <Allowed to="resume">
          <NextForm task={task} />
        </Allowed>
      )}
    </>
  );
  return (
    <div ref={content} className="mx-auto w-full max-w-7xl px-3 py-4 sm:px-5 sm:py-6">
      <TaskHeader task={task} />
      <TaskTimeline task={task} />
      <FamilyKeys taskId={task.id} batchId={task.batchId} parentSessionId={task.parentSessionID} />
      <div className="mt-5 grid min-w-0 gap-x-10 gap-y-6 lg:grid-cols-[minmax(0,1fr)_20rem]">
        <Details task={task} />
        <div className="flex min-w-0 flex-col gap-6 lg:order-1">
          {!endsBelow && end}
          <Conversation id={task.id} isTaskLive={isLive(task)} scroller={scroller} place={place} />
          {endsBelow && end}
          <AnswerBox task={task} />
        </div>
      </div>
    </div>
  );
}

/** Without room beside the conversation, the details would push it out of view. */
function Details({ task }: { task: BackgroundTask }) {
  const isFolded = useMedia("(max-width: 1023px)");
  const details = (
    <div className="flex min-w-0 flex-col gap-6">
      <Budgets task={task.id} />
      <TaskFacts task={task} />
      <TaskFamily task={task} />
      <RunList task={task} />
      <ChangeList
        subject={task.id}
        version={`${task.run.number} ${task.status} ${task.phase} ${task.cancelRequestedAt}`}
      />
    </div>
  );
  const summary = [task.agent, counted(task.progress.toolCalls, "tool call"), costText(task.progress.cost)].join(" · ");
  const line = (
    <>
      <span className="font-medium">Details</span>
      <span className="foreign min-w-0 truncate text-muted">
        <ForeignText text={summary} />
      </span>
    </>
  );
  return (
    <aside
      aria-label="Details"
      className="live-data min-w-0 lg:sticky lg:top-4 lg:order-2 lg:max-h-[calc(100dvh-5.5rem)] lg:self-start lg:overflow-y-auto"
    >
      {isFolded ? <Fold line={line}>{() => details}</Fold> : details}
    </aside>
  );
}

function Outcome({ task, onReload }: { task: BackgroundTask; onReload: () => void }) {
  return (
    <>
      {task.error !== null && (
        <section aria-label="Error">
          <h2 className="mb-2 text-[15px] font-semibold text-error">Error</h2>
          <LongText label="Text of the error" text={task.error} isError />
        </section>
      )}
      {task.result !== null && task.result !== "" && (
        <section aria-label="Result">
          <h2 className="mb-2 text-[15px] font-semibold">Result</h2>
          <div className="rounded-lg border border-line bg-surface px-4 py-3">
            <RichText text={task.result} />
          </div>
        </section>
      )}
      {task.shortened.length > 0 && (
        <p className="flex flex-wrap items-center gap-2 text-muted">
          Shown shortened: {task.shortened.join(", ")}.<Button onClick={onReload}>Load in full</Button>
        </p>
      )}
    </>
  );
}
