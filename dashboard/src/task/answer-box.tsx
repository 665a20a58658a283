/**
 * A waiting task's request, and the form that answers it: text for a question, a decision for a permission. It comes
 * last on the page and sticks to the bottom of the window, so that it is always visible and moves nothing. A new
 * request starts with an empty form, and cannot be allowed in its first moment: a click may be meant for the one
 * before. If someone else was faster, a note replaces the form.
 */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { questionsIn } from "../../../src/model/questions.ts";
import type { AnswerBody, BackgroundTask } from "../../../src/protocol/tasks.ts";
import { forgetDraft, useDraft } from "../forms/draft.ts";
import { Form } from "../forms/form.tsx";
import { TextField } from "../forms/form-fields.tsx";
import { useSettled } from "../forms/use-settled.ts";
import { Button } from "../parts/button.tsx";
import { FailureNote } from "../parts/failure-note.tsx";
import { ForeignText } from "../parts/foreign-text.tsx";
import { Icon } from "../parts/icons.tsx";
import { control } from "../server/page-client.ts";
import { queryKeys } from "../server/query-keys.ts";
import { Allowed } from "../session/allowed.tsx";
import { isLive } from "../wording/statuses.ts";
import { AnsweredNote } from "./answered-note.tsx";

/** Separates the answers of one draft; nobody types it. */
const BETWEEN = "\u001f";

export function AnswerBox({ task }: { task: BackgroundTask }) {
  const detail = isLive(task) && task.phaseDetail?.kind === "waiting" ? task.phaseDetail : null;
  const [shown, setShown] = useState(detail);
  const [dismissed, setDismissed] = useState<string | null>(null);
  const reply = useReply(task);
  if (detail !== null && detail.requestId !== shown?.requestId) setShown(detail);
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

interface RequestProps {
  requestId: string;
  text: string;
  reply: ReturnType<typeof useReply>;
}

/** An answer is for the request that was shown, not for a later one. */
function useReply(task: BackgroundTask) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (answer: AnswerBody & { requestId: string }) =>
      control((client) => client.answer(task.id, { ...answer, via: "dashboard" })),
    onSettled: () => queries.invalidateQueries({ queryKey: [...queryKeys.task(task.id)] }),
  });
}

function QuestionForm({ requestId, text, reply }: RequestProps) {
  const [questions] = useState(() => questionsIn(text));
  const draft = `answer.${requestId}`;
  const [kept, keep] = useDraft(draft);
  const typed = kept.split(BETWEEN);
  const answers = questions.map((_, index) => typed[index] ?? "");
  const isReady = answers.every((answer) => answer.trim() !== "");
  const submit = () => {
    if (isReady && !reply.isPending)
      reply.mutate({ kind: "question", answers, requestId }, { onSuccess: () => forgetDraft(draft) });
  };
  return (
    <Form label="Answer" onSubmit={submit} className="flex flex-col gap-3">
      {questions.map((question, index) => (
        <TextField
          key={index}
          label={question}
          value={answers[index] ?? ""}
          onChange={(answer) => keep(answers.with(index, answer).join(BETWEEN))}
          rows={2}
          maxLength={10_000}
          placeholder="Your answer"
        />
      ))}
      {reply.isError && reply.variables.requestId === requestId && (
        <FailureNote title="The answer was not delivered" failure={reply.error} />
      )}
      <div className="flex justify-end gap-2">
        <Button
          title="Declining ends the run"
          disabled={reply.isPending}
          onClick={() => reply.mutate({ kind: "question", answers: null, requestId })}
        >
          Decline
        </Button>
        <Button type="submit" weight="primary" disabled={!isReady || reply.isPending}>
          {reply.isPending ? "Answering…" : "Answer"}
        </Button>
      </div>
    </Form>
  );
}

function PermissionForm({ requestId, text, reply }: RequestProps) {
  const [message, setMessage] = useDraft(`refusal.${requestId}`);
  const canAllow = useSettled(requestId) && !reply.isPending;
  const decide = (decision: "once" | "always" | "reject") => {
    const told = decision === "reject" && message.trim() !== "" ? message.trim() : null;
    reply.mutate({ kind: "permission", decision, message: told, requestId });
  };
  return (
    <>
      <pre className="foreign max-h-60 overflow-y-auto font-mono text-xs whitespace-pre-wrap">
        <ForeignText text={text} />
      </pre>
      <TextField
        label="If you reject, tell the agent what to do instead (optional)"
        value={message}
        onChange={setMessage}
        maxLength={10_000}
        placeholder="Rejecting without a message ends the run"
      />
      {reply.isError && reply.variables.requestId === requestId && (
        <FailureNote title="The decision was not delivered" failure={reply.error} />
      )}
      <div className="flex flex-wrap gap-2">
        <Button weight="primary" disabled={!canAllow} onClick={() => decide("once")}>
          Allow once
        </Button>
        <Button disabled={!canAllow} onClick={() => decide("always")}>
          Always allow
        </Button>
        <Button weight="danger" disabled={reply.isPending} onClick={() => decide("reject")}>
          Reject
        </Button>
      </div>
    </>
  );
}
