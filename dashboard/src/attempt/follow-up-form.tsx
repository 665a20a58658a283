/**
 * Tells an attempt's agent what to do next: at once when it is idle, else queued until it is. Shows what is queued.
 */
import { Button } from "../parts/button.tsx";
import { useDraft } from "../parts/draft.ts";
import { FailureNote } from "../parts/failure-note.tsx";
import { PromptForm } from "../parts/prompt-form.tsx";
import { type Attempt, operate } from "../server/operate.ts";
import { counted } from "../wording/amounts.ts";
import { isAtWork } from "../wording/attempts.ts";
import { useAttemptDeed } from "./use-attempt-deed.ts";

export function FollowUpForm({ attempt }: { attempt: Attempt }) {
  const [prompt, setPrompt] = useDraft(`follow.${attempt.attempt_id}`);
  const isBusy = isAtWork(attempt.state);
  const follow = useAttemptDeed(
    (action: "send" | "queue") => operate("follow_up", { attempt_id: attempt.attempt_id, action, prompt }),
    () => setPrompt(""),
  );
  return (
    <PromptForm
      name="Follow up"
      label="Follow up"
      placeholder={isBusy ? "What should it do after this?" : "What should it do next? It remembers the conversation."}
      prompt={prompt}
      onPrompt={setPrompt}
      onSubmit={() => !follow.isPending && follow.mutate(isBusy ? "queue" : "send")}
      failure={{ title: "The follow-up was not taken", error: follow.error }}
    >
      <div className="flex min-h-8 flex-wrap items-center gap-2">
        <Queue attempt={attempt} />
        <Button type="submit" weight="primary" className="ml-auto" disabled={follow.isPending || prompt.trim() === ""}>
          {isBusy ? "Queue" : "Send"}
        </Button>
      </div>
    </PromptForm>
  );
}

function Queue({ attempt }: { attempt: Attempt }) {
  const cancel = useAttemptDeed(() => operate("follow_up", { attempt_id: attempt.attempt_id, action: "cancel" }));
  // After a run that went wrong they wait for a person's word.
  const isHeld = attempt.state === "failed" || attempt.state === "stopped";
  if (attempt.queued_count === 0) {
    return isAtWork(attempt.state) ? <span className="text-muted">It runs when the agent is idle.</span> : null;
  }
  return (
    <>
      <span data-queued={attempt.queued_count} className="text-muted">
        {counted(attempt.queued_count, "follow-up")} queued
        {isHeld && ", held until you send another"}
      </span>
      <Button weight="quiet" disabled={cancel.isPending} onClick={() => cancel.mutate()}>
        {cancel.isPending ? "Cancelling…" : "Cancel the queue"}
      </Button>
      {cancel.isError && <FailureNote title="The queue was not cancelled" failure={cancel.error} />}
    </>
  );
}
