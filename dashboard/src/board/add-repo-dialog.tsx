/**
 * The repositories of a project, and the form that adds one. Remembers the branch checked out there as the likely
 * start of attempts.
 */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Fold } from "../conversation/fold.tsx";
import { forgetDraft, useDraft } from "../forms/draft.ts";
import { FormDialog } from "../forms/form-dialog.tsx";
import { TextField } from "../forms/form-fields.tsx";
import { rememberBranch } from "../item/remembered-start.ts";
import { ForeignText } from "../parts/foreign-text.tsx";
import { Icon } from "../parts/icons.tsx";
import { useRepos } from "../server/board-queries.ts";
import { operate } from "../server/operate.ts";
import { queryKeys } from "../server/query-keys.ts";

export function AddRepoDialog({ projectId, onClose }: { projectId: string; onClose: () => void }) {
  const draft = (field: string) => `repo.${field}.${projectId}`;
  const [path, setPath] = useDraft(draft("path"));
  const [name, setName] = useDraft(draft("name"));
  const [copy, setCopy] = useDraft(draft("copy"));
  const [setup, setSetup] = useDraft(draft("setup"));
  const { data: repos } = useRepos(projectId);
  const queries = useQueryClient();
  const add = useMutation({
    mutationFn: () =>
      operate("add_repo", {
        project_id: projectId,
        path: path.trim(),
        ...(name.trim() === "" ? {} : { name: name.trim() }),
        ...(copy.trim() === "" ? {} : { copy: linesOf(copy) }),
        ...(setup.trim() === "" ? {} : { setup }),
      }),
    onSuccess: async ({ repo_id, current_branch }) => {
      for (const field of ["path", "name", "copy", "setup"]) forgetDraft(draft(field));
      if (current_branch !== null) rememberBranch(repo_id, current_branch);
      await queries.invalidateQueries({ queryKey: [...queryKeys.repos(projectId)] });
      onClose();
    },
  });
  return (
    <FormDialog
      title="Repositories"
      labels={["Add repository", "Adding…"]}
      act={{ ...add, mutate: () => add.mutate() }}
      isReady={path.trim() !== ""}
      onClose={onClose}
    >
      {repos !== undefined && repos.length > 0 && (
        <ul aria-label="Repositories of this project" className="flex flex-wrap gap-1.5">
          {repos.map((repo) => (
            <li key={repo.id} className="foreign flex items-center gap-1.5 rounded-md bg-raised px-2 py-1">
              <Icon name="branch" className="size-3.5 text-faint" />
              <ForeignText text={repo.name} />
            </li>
          ))}
        </ul>
      )}
      <TextField
        label="Folder"
        value={path}
        onChange={setPath}
        placeholder="/path/to/greengrocer"
        hint="The absolute path of a git repository on this machine."
        isMono
        isRequired
      />
      <TextField
        label="Name (optional)"
        value={name}
        onChange={setName}
        maxLength={100}
        placeholder="The folder’s name"
      />
      <Fold line={<span className="font-medium text-muted">Prepare worktrees</span>}>
        {() => (
          <>
            <TextField
              label="Files to copy"
              value={copy}
              onChange={setCopy}
              rows={2}
              placeholder=".env"
              hint="Untracked files that each worktree needs, one on a line."
              isMono
            />
            <TextField
              label="Setup script"
              value={setup}
              onChange={setSetup}
              rows={3}
              placeholder="npm ci"
              hint="Run with bash in each new worktree, before the agent starts."
              isMono
            />
          </>
        )}
      </Fold>
    </FormDialog>
  );
}

function linesOf(text: string): string[] {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
}
