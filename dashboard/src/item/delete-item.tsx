/**
 * Deletes a work item after asking. If that would lose work, the server rejects it, and only then is force offered.
 */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ForceField } from "../forms/force-field.tsx";
import { FormDialog } from "../forms/form-dialog.tsx";
import { Button } from "../parts/button.tsx";
import { ForeignText } from "../parts/foreign-text.tsx";
import { navigate } from "../routing/location.ts";
import { boardPath } from "../routing/route.ts";
import { type Item, operate } from "../server/operate.ts";
import { queryKeys } from "../server/query-keys.ts";

export function DeleteItem({ item }: { item: Item }) {
  const [asks, setAsks] = useState(false);
  const [isForced, setIsForced] = useState(false);
  const queries = useQueryClient();
  const remove = useMutation({
    mutationFn: () => operate("delete_task", { task_id: item.id, ...(isForced && { force: true }) }),
    onSuccess: () => {
      void queries.invalidateQueries({ queryKey: [...queryKeys.itemsOf(item.project_id)] });
      navigate(boardPath(item.project_id));
    },
  });
  return (
    <>
      <Button weight="danger" className="self-start" onClick={() => setAsks(true)}>
        Delete work item
      </Button>
      {asks && (
        <FormDialog
          title="Delete this work item?"
          labels={["Delete", "Deleting…"]}
          act={{ ...remove, mutate: () => remove.mutate() }}
          isDangerous
          onClose={() => setAsks(false)}
        >
          <p className="foreign">
            “<ForeignText text={item.title} />” is deleted with its attempts, their worktrees and branches.
          </p>
          <ForceField failure={remove.error} isForced={isForced} onForce={setIsForced}>
            Stop running attempts and discard unmerged work
          </ForceField>
        </FormDialog>
      )}
    </>
  );
}
