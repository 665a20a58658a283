/**
 * The follow-ups queued for an attempt's agent, in order, with the reason if they wait although it is idle; and a
 * button that cancels them.
 */
import { Button } from "../parts/button.tsx";
import { FailureNote } from "../parts/failure-note.tsx";
import { ForeignText } from "../parts/foreign-text.tsx";
import { Icon } from "../parts/icons.tsx";
import { Ago } from "../parts/times.tsx";
import { TypedText } from "../parts/typed-text.tsx";
import { useFollowUps } from "../server/board-queries.ts";
import { type Attempt, operate } from "../server/operate.ts";
import { counted } from "../wording/amounts.ts";
import { useAttemptAction } from "./use-attempt-action.ts";

export function FollowUpQueue({ attempt }: { attempt: Attempt }) {
  const { queued_count, queue_held } = attempt;
  const { data, error } = useFollowUps(attempt);
  const cancel = useAttemptAction(() => operate("follow_up", { attempt_id: attempt.attempt_id, action: "cancel" }));
  const listed = data?.follow_ups ?? [];
  return (
    <section
      aria-label="Queued follow-ups"
      data-queued={queued_count}
      className="-mx-3 -mb-3 flex min-w-0 flex-col gap-2 border-t border-line px-3 py-2"
    >
      <div className="flex flex-wrap items-center gap-2">
        <p className="text-muted">{counted(queued_count, "follow-up")} queued</p>
        <Button weight="quiet" className="ml-auto" disabled={cancel.isPending} onClick={() => cancel.mutate()}>
          {cancel.isPending ? "Cancelling…" : "Cancel the queue"}
        </Button>
      </div>
      {queue_held !== null && (
        <p data-held className="foreign flex gap-2 text-attention">
          <Icon name="waiting" className="mt-0.5" />
          <span className="min-w-0">
            <ForeignText text={queue_held} />
          </span>
        </p>
      )}
      {listed.length > 0 && (
        <ol
          aria-label="Queued prompts"
          // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keys
          tabIndex={0}
          className="flex max-h-60 list-decimal flex-col gap-2 overflow-y-auto pl-6 marker:text-faint"
        >
          {listed.map(({ message, queued_at }, index) => (
            <li key={`${queued_at} ${index}`}>
              <TypedText text={message} />
              <p className="text-xs text-faint">
                queued <Ago at={queued_at} />
              </p>
            </li>
          ))}
        </ol>
      )}
      {listed.length > 0 && listed.length < queued_count && (
        <p className="text-muted">and {queued_count - listed.length} more</p>
      )}
      {error !== null && <FailureNote title="The queue could not be loaded" failure={error} />}
      {cancel.isError && <FailureNote title="The queue was not cancelled" failure={cancel.error} />}
    </section>
  );
}
