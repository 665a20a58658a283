/**
 * Cancels a live task, after asking.
 */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { BackgroundTask } from "../../../src/protocol/tasks.ts";
import { useActions } from "../palette/actions.ts";
import { Button } from "../parts/button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { FailureNote } from "../parts/failure-note.tsx";
import { ForeignText } from "../parts/foreign-text.tsx";
import { control } from "../server/page-client.ts";
import { queryKeys } from "../server/query-keys.ts";

export function CancelButton({ task }: { task: BackgroundTask }) {
  const [asks, setAsks] = useState(false);
  const queries = useQueryClient();
  const cancel = useMutation({
    mutationFn: () => control((client) => client.cancel(task.id)),
    onSuccess: () => {
      // Read again: the answer may be older than what the stream has reported meanwhile.
      void queries.invalidateQueries({ queryKey: [...queryKeys.task(task.id)] });
      setAsks(false);
    },
  });
  const isAsked = task.cancelRequestedAt !== null;
  useActions(isAsked ? [] : [{ id: "cancel", label: "Cancel this task…", run: () => setAsks(true) }]);
  return (
    <>
      <Button weight="danger" disabled={isAsked} onClick={() => setAsks(true)}>
        {isAsked ? "Cancelling…" : "Cancel task"}
      </Button>
      {asks && (
        <Dialog title="Cancel this task?" onClose={() => setAsks(false)}>
          <p className="foreign">
            “<ForeignText text={task.description} />” stops where it is. What it has done so far stays, and its parent
            is told.
          </p>
          {cancel.isError && <FailureNote title="The task was not cancelled" failure={cancel.error} />}
          <div className="flex justify-end gap-2">
            <Button onClick={() => setAsks(false)}>Keep it running</Button>
            <Button weight="danger" disabled={cancel.isPending} onClick={() => cancel.mutate()}>
              {cancel.isPending ? "Cancelling…" : "Cancel the task"}
            </Button>
          </div>
        </Dialog>
      )}
    </>
  );
}
