/**
 * The forms that answer a request: text for a question, a decision for a permission. A new request starts with an empty
 * form, and cannot be allowed in its first moment: a click may be meant for the one before.
 */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { questionsIn } from "../../../src/model/questions.ts";
import type { AnswerBody } from "../../../src/protocol/tasks.ts";
import { forgetDraft, useDraft } from "../forms/draft.ts";
import { Form } from "../forms/form.tsx";
import { TextField } from "../forms/form-fields.tsx";
import { useSettled } from "../forms/use-settled.ts";
import { Button } from "../parts/button.tsx";
import { FailureNote } from "../parts/failure-note.tsx";
import { ForeignText } from "../parts/foreign-text.tsx";
import { control } from "../server/page-client.ts";
import { queryKeys } from "../server/query-keys.ts";

/** Separates the answers of one draft; nobody types it. */
const BETWEEN = "\u001f";

interface RequestProps {
  requestId: string;
  text: string;
  reply: ReturnType<typeof useReply>;
}

/** An answer is for the request that was shown, not for a later one. */
export function useReply(taskId: string) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (answer: AnswerBody & { requestId: string }) =>
      control((client) => client.answer(taskId, { ...answer, via: "dashboard" })),
    onSettled: () =>
      Promise.all([
        queries.invalidateQueries({ queryKey: [...queryKeys.task(taskId)] }),
        queries.invalidateQueries({ queryKey: queryKeys.inbox }),
      ]),
  });
}

export function QuestionForm({ requestId, text, reply }: RequestProps) {
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

export function PermissionForm({ requestId, text, reply }: RequestProps) {
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
