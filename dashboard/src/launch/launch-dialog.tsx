/**
 * Launches a task: asks where and with which agent, says why if controls are off, and opens the new task.
 */
import { useQuery } from "@tanstack/react-query";
import type { BackgroundTask } from "../../../src/protocol/tasks.ts";
import { Dialog } from "../parts/dialog.tsx";
import { FailureNote } from "../parts/failure-note.tsx";
import { whyControlsAreOff } from "../server/page-client.ts";
import { type FirstLaunch, LaunchForm } from "./launch-form.tsx";
import { type LaunchPlaces, useLaunchPlaces } from "./launch-places.ts";

interface LaunchDialogProps {
  /** The task to run again. */
  again?: BackgroundTask;
  onClose: () => void;
}

export function LaunchDialog({ again, onClose }: LaunchDialogProps) {
  const { places, error, retry } = useLaunchPlaces();
  const refusal = useQuery({ queryKey: ["controls"], queryFn: whyControlsAreOff, gcTime: 0, staleTime: 0 });
  return (
    <Dialog title={again ? "Run the task again" : "Launch a task"} onClose={onClose}>
      {refusal.data !== undefined && refusal.data !== null && (
        <FailureNote title="Controls are off on this page" failure={refusal.data} />
      )}
      {error !== null && <FailureNote title="The launch options could not be loaded" failure={error} onRetry={retry} />}
      {places === null && error === null && <p className="text-muted">Asking where tasks can be launched…</p>}
      {places?.hosts.length === 0 && (
        <p className="text-muted">
          Nothing can run agents here yet. Open OpenCode in a project, or start the daemon: asyncagents up
        </p>
      )}
      {places !== null && places.hosts.length > 0 && (
        <LaunchForm
          places={places}
          first={again ? repeated(again) : fresh(places)}
          isOff={refusal.data !== null}
          onClose={onClose}
        />
      )}
    </Dialog>
  );
}

function fresh({ hosts, directories }: LaunchPlaces): FirstLaunch {
  const texts = { agent: "", description: "", prompt: "" };
  return { name: "new", host: hosts[0]?.host ?? "", directory: directories[0] ?? "", ...texts };
}

function repeated({ id, host, directory, agent, description, prompt }: BackgroundTask): FirstLaunch {
  return { name: id, host, directory, agent, description, prompt };
}
