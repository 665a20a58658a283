/**
 * Removes an attempt and its worktrees, after asking. If that would lose work, the server rejects it, and only then
 * is force offered.
 */
import { useState } from "react";
import { ForceField } from "../forms/force-field.tsx";
import { FormDialog } from "../forms/form-dialog.tsx";
import { Button } from "../parts/button.tsx";
import { ForeignText } from "../parts/foreign-text.tsx";
import { navigate } from "../routing/location.ts";
import { itemPath } from "../routing/route.ts";
import { type Attempt, operate } from "../server/operate.ts";
import { useAttemptAction } from "./use-attempt-action.ts";

export function RemoveAttempt({ attempt }: { attempt: Attempt }) {
  const [asks, setAsks] = useState(false);
  const [isForced, setIsForced] = useState(false);
  const remove = useAttemptAction(
    () => operate("remove_attempt", { attempt_id: attempt.attempt_id, ...(isForced && { force: true }) }),
    () => navigate(itemPath(attempt.task_id)),
  );
  return (
    <>
      <Button weight="danger" onClick={() => setAsks(true)}>
        Remove
      </Button>
      {asks && (
        <FormDialog
          title="Remove this attempt?"
          labels={["Remove", "Removing…"]}
          act={{ ...remove, mutate: () => remove.mutate() }}
          isDangerous
          onClose={() => setAsks(false)}
        >
          <p className="foreign">
            Its worktree and the branch{" "}
            <code className="font-mono text-xs">
              <ForeignText text={attempt.workspace_branch} />
            </code>{" "}
            are removed, and the attempt leaves the board. Merged work stays merged.
          </p>
          <ForceField failure={remove.error} isForced={isForced} onForce={setIsForced}>
            Discard unmerged work
          </ForceField>
        </FormDialog>
      )}
    </>
  );
}
