/**
 * Launches a task: asks where and with which agent, says why where controls are off, and opens the task that came of it.
 */
import { useQuery } from "@tanstack/react-query";
import { Dialog } from "../parts/dialog.tsx";
import { FailureNote } from "../parts/failure-note.tsx";
import { whyControlsAreOff } from "../server/page-client.ts";
import { useInstances } from "../server/queries.ts";
import { LaunchForm } from "./launch-form.tsx";

export function LaunchDialog({ onClose }: { onClose: () => void }) {
  const instances = useInstances();
  const refusal = useQuery({ queryKey: ["controls"], queryFn: whyControlsAreOff, gcTime: 0, staleTime: 0 });
  return (
    <Dialog title="Launch a task" onClose={onClose}>
      {refusal.data !== undefined && refusal.data !== null && (
        <FailureNote title="Controls are off on this page" failure={refusal.data} />
      )}
      {instances.isError && (
        <FailureNote
          title="The server did not say where tasks can be launched"
          failure={instances.error}
          onRetry={() => void instances.refetch()}
        />
      )}
      {instances.isPending && <p className="text-muted">Asking where tasks can be launched…</p>}
      {instances.data?.length === 0 && (
        <p className="text-muted">
          This server drives no host now, so there is nowhere to launch a task. Open OpenCode in a project and try
          again.
        </p>
      )}
      {instances.data !== undefined && instances.data.length > 0 && (
        <LaunchForm instances={instances.data} isOff={refusal.data !== null} onClose={onClose} />
      )}
    </Dialog>
  );
}
