/**
 * Stops an attempt's current work, after asking.
 */
import { useState } from "react";
import { FormDialog } from "../forms/form-dialog.tsx";
import { Button } from "../parts/button.tsx";
import { type Attempt, operate } from "../server/operate.ts";
import { useAttemptAction } from "./use-attempt-action.ts";

export function StopAttempt({ attempt }: { attempt: Attempt }) {
  const [asks, setAsks] = useState(false);
  const stop = useAttemptAction(
    () => operate("stop_attempt", { attempt_id: attempt.attempt_id }),
    () => setAsks(false),
  );
  return (
    <>
      <Button weight="danger" onClick={() => setAsks(true)}>
        Stop
      </Button>
      {asks && (
        <FormDialog
          title="Stop this attempt?"
          labels={["Stop it", "Stopping…"]}
          act={{ ...stop, mutate: () => stop.mutate() }}
          isDangerous
          onClose={() => setAsks(false)}
        >
          <p>The agent stops where it is. What it changed stays in its worktree, and you can follow up later.</p>
        </FormDialog>
      )}
    </>
  );
}
