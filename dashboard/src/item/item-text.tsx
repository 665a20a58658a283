/**
 * The title and description of a work item, to read and to edit. Incoming changes do not overwrite an edit in
 * progress.
 */

import { useState } from "react";
import { forgetDraft, useDraft } from "../forms/draft.ts";
import { Form } from "../forms/form.tsx";
import { TextField } from "../forms/form-fields.tsx";
import { BackLink } from "../parts/back-link.tsx";
import { Button } from "../parts/button.tsx";
import { FailureNote } from "../parts/failure-note.tsx";
import { ForeignText } from "../parts/foreign-text.tsx";
import { Icon } from "../parts/icons.tsx";
import { TypedText } from "../parts/typed-text.tsx";
import { boardPath } from "../routing/route.ts";
import type { Item } from "../server/operate.ts";
import { Allowed } from "../session/allowed.tsx";
import { useItemChange } from "./use-item-change.ts";

export function ItemText({ item }: { item: Item }) {
  const [isEdited, setIsEdited] = useState(false);
  return (
    <div className="flex min-w-0 flex-col gap-4">
      <div className="flex flex-wrap items-start gap-x-2 gap-y-1 sm:flex-nowrap">
        <BackLink href={boardPath(item.project_id)} label="Back to the board" />
        <h1 className="foreign min-w-0 flex-1 basis-40 pt-0.5 text-lg leading-snug font-semibold tracking-tight sm:text-xl">
          <ForeignText text={item.title} />
        </h1>
        {!isEdited && (
          <Allowed to="update_task">
            <Button onClick={() => setIsEdited(true)}>
              <Icon name="edit" />
              Edit
            </Button>
          </Allowed>
        )}
      </div>
      {isEdited ? <EditForm item={item} onClose={() => setIsEdited(false)} /> : <Description text={item.description} />}
    </div>
  );
}

function Description({ text }: { text: string | null }) {
  return (
    <section aria-label="Description" className="rounded-lg border border-line bg-surface px-4 py-3">
      {text === null || text.trim() === "" ? (
        <p className="text-muted">No description: the title alone is the agent’s prompt.</p>
      ) : (
        <TypedText text={text} />
      )}
    </section>
  );
}

function EditForm({ item, onClose }: { item: Item; onClose: () => void }) {
  const drafts = [`edit.title.${item.id}`, `edit.description.${item.id}`] as const;
  const [title, setTitle] = useDraft(drafts[0], item.title);
  const [description, setDescription] = useDraft(drafts[1], item.description ?? "");
  const change = useItemChange(item);
  const close = () => {
    for (const name of drafts) forgetDraft(name);
    onClose();
  };
  const submit = () => {
    if (!change.isPending && title.trim() !== "") {
      change.mutate({ title: title.trim(), description }, { onSuccess: close });
    }
  };
  return (
    <Form label="Edit the work item" onSubmit={submit}>
      <TextField label="Title" value={title} onChange={setTitle} maxLength={300} isRequired />
      <TextField label="Description" value={description} onChange={setDescription} rows={10} maxLength={100_000} />
      {change.isError && <FailureNote title="The work item was not changed" failure={change.error} />}
      <div className="flex justify-end gap-2">
        <Button onClick={close}>Discard</Button>
        <Button type="submit" weight="primary" disabled={change.isPending || title.trim() === ""}>
          {change.isPending ? "Saving…" : "Save"}
        </Button>
      </div>
    </Form>
  );
}
