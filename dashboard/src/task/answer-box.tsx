/**
 * A waiting task's request, and the form that answers it. It comes last on the page and sticks to the bottom of the
 * window, so that it is always visible and moves nothing. If someone else was faster, a note replaces the form.
 */
import { useRef, useState } from "react";
import type { BackgroundTask } from "../../../src/protocol/tasks.ts";
import { useActions } from "../palette/actions.ts";
import { FailureNote } from "../parts/failure-note.tsx";
import { ForeignText } from "../parts/foreign-text.tsx";
import { Icon } from "../parts/icons.tsx";
import { Allowed } from "../session/allowed.tsx";
import { isLive } from "../wording/statuses.ts";
import { PermissionForm, QuestionForm, useReply } from "./answer-forms.tsx";
import { AnsweredNote } from "./answered-note.tsx";

export function AnswerBox({ task }: { task: BackgroundTask }) {
  const detail = isLive(task) && task.phaseDetail?.kind === "waiting" ? task.phaseDetail : null;
  const [shown, setShown] = useState(detail);
  const [dismissed, setDismissed] = useState<string | null>(null);
  const reply = useReply(task.id);
  if (detail !== null && detail.requestId !== shown?.requestId) setShown(detail);
  const box = useRef<HTMLElement>(null);
  const answer = () => box.current?.querySelector<HTMLElement>("input, textarea, button")?.focus();
  useActions(detail === null ? [] : [{ id: "answer", label: "Answer what this task asks", run: answer }]);
  if (shown === null) return null;
  if (detail === null) {
    const isOwn = reply.variables?.requestId === shown.requestId && !reply.isError;
    const hasLost = reply.isError && reply.variables.requestId === shown.requestId;
    // The page already says elsewhere that a run has ended.
    const isOver = !isLive(task) && task.phaseDetail === null && !hasLost;
    if (isOwn || isOver || dismissed === shown.requestId) return null;
    return (
      <AnsweredNote
        task={task}
        request={shown}
        lost={hasLost ? reply.error : null}
        onDismiss={() => setDismissed(shown.requestId)}
      />
    );
  }
  const title = detail.asks === "question" ? "The agent has a question" : "The agent needs permission";
  return (
    <section
      ref={box}
      aria-label={title}
      data-asks={detail.asks}
      className="sticky bottom-3 z-20 flex max-h-[min(26rem,60vh)] min-w-0 flex-col gap-3 overflow-y-auto rounded-lg border border-attention/50 bg-attention-soft px-4 py-3 shadow-[0_8px_30px_rgb(0_0_0/0.25)]"
    >
      <h2 className="flex items-center gap-2 font-semibold text-attention">
        <Icon name={detail.asks === "question" ? "question" : "waiting"} />
        {title}
      </h2>
      {reply.isError && reply.variables.requestId !== detail.requestId && (
        <FailureNote title="Your answer to the previous request was not used" failure={reply.error} />
      )}
      <Allowed to="answer" instead={<NotYours text={detail.text} />}>
        {detail.asks === "question" ? (
          <QuestionForm key={detail.requestId} requestId={detail.requestId} text={detail.text} reply={reply} />
        ) : (
          <PermissionForm key={detail.requestId} requestId={detail.requestId} text={detail.text} reply={reply} />
        )}
      </Allowed>
    </section>
  );
}

function NotYours({ text }: { text: string }) {
  return (
    <>
      <p className="foreign whitespace-pre-wrap">
        <ForeignText text={text} />
      </p>
      <p className="text-muted">Your role does not include answering. Somebody with the role “answer” can.</p>
    </>
  );
}
