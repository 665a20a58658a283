/**
 * Tells an attempt's agent what to do next: sent immediately if it is idle, otherwise queued. Shows the queue.
 */

import { useDraft } from "../forms/draft.ts";
import { PromptForm } from "../forms/prompt-form.tsx";
import { Button } from "../parts/button.tsx";
import { type Attempt, operate } from "../server/operate.ts";
import { isAtWork } from "../wording/attempts.ts";
import { FollowUpQueue } from "./follow-up-queue.tsx";
import { useAttemptAction } from "./use-attempt-action.ts";

export function FollowUpForm({ attempt }: { attempt: Attempt }) {
  const [prompt, setPrompt] = useDraft(`follow.${attempt.attempt_id}`);
  const isBusy = isAtWork(attempt.state);
  const follow = useAttemptAction(
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
      failure={{ title: "The follow-up was not accepted", error: follow.error }}
    >
      <div className="flex min-h-8 flex-wrap items-center gap-2">
        {isBusy && attempt.queued_count === 0 && <span className="text-muted">It runs when the agent is idle.</span>}
        <Button type="submit" weight="primary" className="ml-auto" disabled={follow.isPending || prompt.trim() === ""}>
          {isBusy ? "Queue" : "Send"}
        </Button>
      </div>
      {attempt.queued_count > 0 && <FollowUpQueue attempt={attempt} />}
    </PromptForm>
  );
}
