/**
 * An attempt's state as icon and word, in the same colours as a task's status.
 */
import { Icon } from "../parts/icons.tsx";
import { StatusIcon } from "../parts/status-mark.tsx";
import type { AttemptState } from "../server/operate.ts";
import { lookOf } from "../wording/attempts.ts";

export function AttemptStateMark({ state }: { state: AttemptState }) {
  if (state === "waiting") {
    return (
      <span data-state={state} className="inline-flex items-center gap-1.5 font-medium text-attention">
        <Icon name="waiting" />
        waiting
      </span>
    );
  }
  return (
    <span
      data-state={state}
      data-status={lookOf(state)}
      className="inline-flex items-center gap-1.5 font-medium text-tone"
    >
      {state === "merged" ? <Icon name="branch" /> : <StatusIcon status={lookOf(state)} />}
      {state}
    </span>
  );
}
