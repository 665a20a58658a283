/**
 * Merges an attempt into its target branches, after asking how, and whether to include changes that could not be
 * shown. A conflict changes nothing and is shown with its files.
 */
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { unseenIn } from "../diff/changed-files.ts";
import { FormDialog } from "../forms/form-dialog.tsx";
import { TextField } from "../forms/form-fields.tsx";
import { Button } from "../parts/button.tsx";
import { FailureNote } from "../parts/failure-note.tsx";
import { ForeignText } from "../parts/foreign-text.tsx";
import { Icon } from "../parts/icons.tsx";
import { useSeenDiff } from "../server/board-queries.ts";
import { listedIn } from "../server/failure.ts";
import { type Attempt, operate } from "../server/operate.ts";
import { counted } from "../wording/amounts.ts";
import { UnseenChanges } from "./unseen-changes.tsx";
import { useAttemptAction } from "./use-attempt-action.ts";
import { addWarnings } from "./warnings.ts";

export function MergeAttempt({ attempt, title }: { attempt: Attempt; title: string }) {
  const [asks, setAsks] = useState(false);
  return (
    <>
      <Button weight="primary" onClick={() => setAsks(true)}>
        <Icon name="branch" />
        Merge
      </Button>
      {asks && <MergeDialog attempt={attempt} title={title} onClose={() => setAsks(false)} />}
    </>
  );
}

interface MergeDialogProps {
  attempt: Attempt;
  title: string;
  onClose: () => void;
}

function MergeDialog({ attempt, title, onClose }: MergeDialogProps) {
  const [message, setMessage] = useState("");
  const [squash, setSquash] = useState(false);
  const [keep, setKeep] = useState(false);
  const [acceptsUnseen, setAcceptsUnseen] = useState(false);
  const queries = useQueryClient();
  const diff = useSeenDiff(attempt);
  const unseen = diff.data ? unseenIn(diff.data.repos) : null;
  const merge = useAttemptAction(
    () =>
      operate("merge_attempt", {
        attempt_id: attempt.attempt_id,
        ...(message.trim() !== "" && { message: message.trim() }),
        ...(squash && { squash }),
        ...(keep && { keep }),
      }),
    ({ warnings }) => {
      addWarnings(queries, attempt.attempt_id, warnings);
      onClose();
    },
  );
  return (
    <FormDialog
      title="Merge this attempt?"
      labels={["Merge", "Merging…"]}
      act={{ ...merge, mutate: () => merge.mutate() }}
      isReady={!diff.isPending && (unseen === null || acceptsUnseen)}
      failure={<Refusal failure={merge.error} />}
      onClose={onClose}
    >
      <ul className="flex flex-col gap-1">
        {attempt.repos.map((repo) => (
          <li key={repo.repo_id} className="foreign">
            <span className="font-medium">
              <ForeignText text={repo.repo_name} />
            </span>
            : {counted(repo.files, "changed file")} into{" "}
            <code className="font-mono text-xs">
              <ForeignText text={repo.target_branch} />
            </code>
            {repo.uncommitted > 0 && <span className="text-muted"> ({repo.uncommitted} to be committed first)</span>}
          </li>
        ))}
      </ul>
      {unseen !== null && <UnseenChanges unseen={unseen} isAccepted={acceptsUnseen} onAccept={setAcceptsUnseen} />}
      {diff.isError && <FailureNote title="The changes could not be read" failure={diff.error} />}
      <TextField
        label="Commit message (optional)"
        value={message}
        onChange={setMessage}
        rows={2}
        maxLength={10_000}
        placeholder={title}
      />
      <label className="flex items-center gap-2">
        <input type="checkbox" checked={squash} onChange={(event) => setSquash(event.target.checked)} />
        Squash: one commit, without the attempt’s history
      </label>
      <label className="flex items-center gap-2">
        <input type="checkbox" checked={keep} onChange={(event) => setKeep(event.target.checked)} />
        Keep the worktree and the branch
      </label>
    </FormDialog>
  );
}

function Refusal({ failure }: { failure: unknown }) {
  const files = listedIn(failure, "files");
  return (
    <div className="flex flex-col gap-2">
      <FailureNote title="Nothing was merged" failure={failure} />
      {files.length > 0 && (
        <ul aria-label="Files in conflict" className="max-h-40 overflow-y-auto font-mono text-xs">
          {files.map((file) => (
            <li key={file} className="foreign flex items-center gap-1.5 text-error">
              <Icon name="file" className="size-3.5" />
              <ForeignText text={file} />
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
