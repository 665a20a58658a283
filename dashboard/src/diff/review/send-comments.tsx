/**
 * Shows the follow-up that the comments become, as it will be sent, and sends it; or throws them away.
 */
import { useAttemptAction } from "../../attempt/use-attempt-action.ts";
import { FormDialog } from "../../forms/form-dialog.tsx";
import { Button } from "../../parts/button.tsx";
import { ForeignText } from "../../parts/foreign-text.tsx";
import { type Attempt, operate, type RepoDiff } from "../../server/operate.ts";
import { counted } from "../../wording/amounts.ts";
import { isAtWork } from "../../wording/attempts.ts";
import type { AttemptComments } from "./attempt-comments.ts";
import { followUpText } from "./follow-up-text.ts";

interface SendCommentsProps {
  attempt: Attempt;
  repos: readonly RepoDiff[];
  store: AttemptComments;
  onClose: () => void;
}

export function SendComments({ attempt, repos, store, onClose }: SendCommentsProps) {
  const comments = store.all();
  const written = comments.filter(({ text }) => text.trim() !== "").length;
  const prompt = followUpText(comments, new Map(repos.map(({ repo_id, repo_name }) => [repo_id, repo_name])));
  const isBusy = isAtWork(attempt.state);
  const send = useAttemptAction(
    () => operate("follow_up", { attempt_id: attempt.attempt_id, action: isBusy ? "queue" : "send", prompt }),
    () => {
      store.clear();
      onClose();
    },
  );
  return (
    <FormDialog
      title={`Send ${counted(written, "comment")} as one follow-up`}
      labels={isBusy ? ["Queue", "Queueing…"] : ["Send", "Sending…"]}
      act={send}
      isReady={written > 0}
      onClose={onClose}
    >
      <p className="text-muted">
        {written === 0
          ? "The comments are empty."
          : isBusy
            ? "The agent gets this text when it is idle:"
            : "The agent gets this text:"}
      </p>
      {written > 0 && (
        <section
          aria-label="The follow-up"
          // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keys
          tabIndex={0}
          className="foreign max-h-80 overflow-y-auto rounded-lg border border-line bg-page px-3 py-2 font-mono text-xs whitespace-pre-wrap"
        >
          <ForeignText text={prompt} />
        </section>
      )}
      <Button
        weight="quiet"
        className="self-start"
        onClick={() => {
          store.clear();
          onClose();
        }}
      >
        Throw all comments away
      </Button>
    </FormDialog>
  );
}
