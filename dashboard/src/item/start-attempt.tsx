/**
 * Starts an attempt: with which executor, in which repositories, from which branches. Remembers the choices.
 */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { addWarnings } from "../attempt/warnings.ts";
import { AddRepoDialog } from "../board/add-repo-dialog.tsx";
import { Form } from "../forms/form.tsx";
import { Button } from "../parts/button.tsx";
import { FailureNote } from "../parts/failure-note.tsx";
import { navigate } from "../routing/location.ts";
import { attemptPath } from "../routing/route.ts";
import { useExecutors, useRepos } from "../server/board-queries.ts";
import { type Executor, type Item, operate, type Repo } from "../server/operate.ts";
import { queryKeys } from "../server/query-keys.ts";
import { ExecutorFields, firstExecutor } from "./executor-fields.tsx";
import { rememberBranch, rememberExecutor, rememberedBranch, rememberedVariant } from "./remembered-start.ts";
import { RepoFields, type RepoStart } from "./repo-fields.tsx";

export function StartAttempt({ item }: { item: Item }) {
  const repos = useRepos(item.project_id);
  const executors = useExecutors();
  const [adds, setAdds] = useState(false);
  const failed = repos.error ?? executors.error;
  return (
    <section aria-label="Start an attempt" className="flex flex-col gap-3 rounded-lg border border-line bg-surface p-4">
      <h2 className="text-[15px] font-semibold">Start an attempt</h2>
      {failed !== null && (
        <FailureNote
          title="The options for an attempt could not be loaded"
          failure={failed}
          onRetry={() => void Promise.all([repos.refetch(), executors.refetch()])}
        />
      )}
      {failed === null && !(repos.data && executors.data) && <p className="text-muted">Asking what can run here…</p>}
      {repos.data?.length === 0 && (
        <>
          <p className="text-muted">This project has no repository yet, so there is nothing to work in.</p>
          <Button className="self-start" onClick={() => setAdds(true)}>
            Add a repository
          </Button>
        </>
      )}
      {repos.data && repos.data.length > 0 && executors.data && (
        <StartForm item={item} repos={repos.data} executors={executors.data.executors} />
      )}
      {adds && <AddRepoDialog projectId={item.project_id} onClose={() => setAdds(false)} />}
    </section>
  );
}

interface StartFormProps {
  item: Item;
  repos: readonly Repo[];
  executors: readonly Executor[];
}

function StartForm({ item, repos, executors }: StartFormProps) {
  const [executor, setExecutor] = useState(() => firstExecutor(executors));
  const [variants, setVariants] = useState<Record<string, string>>({});
  const [starts, setStarts] = useState<Record<string, RepoStart>>({});
  const chosen = executors.find((each) => each.executor === executor);
  const known = variants[executor] ?? rememberedVariant(executor);
  const isKnown = chosen !== undefined && (chosen.variants.length === 0 || chosen.variants.includes(known.trim()));
  const variant = isKnown ? known.trim() : "";
  const startOf = (repo: Repo) => starts[repo.id] ?? { isIn: true, branch: rememberedBranch(repo.id) };
  const inputs = repos
    .filter((repo) => startOf(repo).isIn)
    .map((repo) => ({ repo_id: repo.id, target_branch: startOf(repo).branch.trim() }));
  const queries = useQueryClient();
  const start = useMutation({
    mutationFn: () =>
      operate("start_task_attempt", {
        task_id: item.id,
        executor,
        repos: inputs,
        ...(variant !== "" && { variant }),
      }),
    onSuccess: ({ attempt_id, warnings }) => {
      addWarnings(queries, attempt_id, warnings);
      rememberExecutor(executor, variant);
      for (const { repo_id, target_branch } of inputs) rememberBranch(repo_id, target_branch);
      void queries.invalidateQueries({ queryKey: [...queryKeys.board] });
      navigate(attemptPath(attempt_id));
    },
  });
  const isReady = chosen?.available === true && inputs.length > 0 && inputs.every((each) => each.target_branch !== "");
  const submit = () => {
    if (isReady && !start.isPending) start.mutate();
  };
  return (
    <Form onSubmit={submit}>
      <ExecutorFields
        executors={executors}
        executor={executor}
        variant={known}
        onExecutor={setExecutor}
        onVariant={(name) => setVariants({ ...variants, [executor]: name })}
      />
      <RepoFields
        repos={repos}
        startOf={startOf}
        onStart={(repo, given) => setStarts({ ...starts, [repo.id]: given })}
      />
      {start.isError && <FailureNote title="The attempt was not started" failure={start.error} />}
      <Button type="submit" weight="primary" disabled={!isReady || start.isPending}>
        {start.isPending ? "Starting…" : "Start"}
      </Button>
    </Form>
  );
}
