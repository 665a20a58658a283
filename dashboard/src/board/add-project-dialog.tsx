/**
 * Adds a project and shows its board.
 */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { forgetDraft, useDraft } from "../forms/draft.ts";
import { FormDialog } from "../forms/form-dialog.tsx";
import { TextField } from "../forms/form-fields.tsx";
import { navigate } from "../routing/location.ts";
import { boardPath } from "../routing/route.ts";
import { operate } from "../server/operate.ts";
import { queryKeys } from "../server/query-keys.ts";

export function AddProjectDialog({ onClose }: { onClose: () => void }) {
  const [name, setName] = useDraft("project.name");
  const queries = useQueryClient();
  const add = useMutation({
    mutationFn: () => operate("add_project", { name: name.trim() }),
    onSuccess: async ({ project_id }) => {
      forgetDraft("project.name");
      await queries.invalidateQueries({ queryKey: [...queryKeys.projects] });
      navigate(boardPath(project_id));
      onClose();
    },
  });
  return (
    <FormDialog
      title="Add a project"
      labels={["Add project", "Adding…"]}
      act={{ ...add, mutate: () => add.mutate() }}
      isReady={name.trim() !== ""}
      onClose={onClose}
    >
      <TextField label="Name" value={name} onChange={setName} maxLength={100} placeholder="Greengrocer" isRequired />
    </FormDialog>
  );
}
