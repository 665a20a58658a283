/**
 * Adds a work item: its title and description become the agent's prompt.
 */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { forgetDraft, useDraft } from "../forms/draft.ts";
import { FormDialog } from "../forms/form-dialog.tsx";
import { TextField } from "../forms/form-fields.tsx";
import { operate } from "../server/operate.ts";
import { queryKeys } from "../server/query-keys.ts";

export function CreateItemDialog({ projectId, onClose }: { projectId: string; onClose: () => void }) {
  const drafts = { title: `item.title.${projectId}`, description: `item.description.${projectId}` };
  const [title, setTitle] = useDraft(drafts.title);
  const [description, setDescription] = useDraft(drafts.description);
  const queries = useQueryClient();
  const create = useMutation({
    mutationFn: () =>
      operate("create_task", {
        project_id: projectId,
        title: title.trim(),
        ...(description.trim() === "" ? {} : { description }),
      }),
    onSuccess: async () => {
      for (const name of Object.values(drafts)) forgetDraft(name);
      await queries.invalidateQueries({ queryKey: [...queryKeys.items(projectId, "todo")] });
      onClose();
    },
  });
  return (
    <FormDialog
      title="New work item"
      labels={["Create", "Creating…"]}
      act={{ ...create, mutate: () => create.mutate() }}
      isReady={title.trim() !== ""}
      onClose={onClose}
    >
      <TextField
        label="Title"
        value={title}
        onChange={setTitle}
        maxLength={300}
        placeholder="Refuse a negative count"
        isRequired
      />
      <TextField
        label="Description (optional)"
        value={description}
        onChange={setDescription}
        rows={7}
        maxLength={100_000}
        hint="Together with the title, this is the agent’s first prompt."
      />
    </FormDialog>
  );
}
