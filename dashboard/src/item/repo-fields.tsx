/**
 * Where an attempt works: the project's repositories, each with the branch it starts from and is merged into.
 */

import { FIELD } from "../forms/form-fields.tsx";
import { ForeignText } from "../parts/foreign-text.tsx";
import type { Repo } from "../server/operate.ts";
import { visibleText } from "../wording/hidden-characters.ts";

export interface RepoStart {
  isIn: boolean;
  branch: string;
}

interface RepoFieldsProps {
  repos: readonly Repo[];
  startOf: (repo: Repo) => RepoStart;
  onStart: (repo: Repo, start: RepoStart) => void;
}

export function RepoFields({ repos, startOf, onStart }: RepoFieldsProps) {
  return (
    <fieldset className="flex min-w-0 flex-col gap-2">
      <legend className="mb-1 font-medium">Repositories and target branches</legend>
      {repos.map((repo) => {
        const start = startOf(repo);
        return (
          <div key={repo.id} className="grid grid-cols-[minmax(0,1fr)_minmax(0,1fr)] items-center gap-2">
            <label className="flex min-w-0 items-center gap-2">
              <input
                type="checkbox"
                checked={start.isIn}
                disabled={repos.length === 1}
                onChange={(event) => onStart(repo, { ...start, isIn: event.target.checked })}
              />
              <span className="foreign min-w-0 truncate" title={visibleText(repo.name)}>
                <ForeignText text={repo.name} />
              </span>
            </label>
            <input
              aria-label={`Target branch of ${visibleText(repo.name)}`}
              value={start.branch}
              disabled={!start.isIn}
              required={start.isIn}
              maxLength={250}
              autoComplete="off"
              spellCheck={false}
              onChange={(event) => onStart(repo, { ...start, branch: event.target.value })}
              className={`${FIELD} font-mono text-xs leading-5`}
            />
          </div>
        );
      })}
      <p className="text-xs text-muted">The agent works on a new branch from there; merging brings its work back.</p>
    </fieldset>
  );
}
