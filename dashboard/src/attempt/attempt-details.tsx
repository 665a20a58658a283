/**
 * The facts of an attempt: its worktrees, with the changes in each, and the task behind it.
 */

import { useMedia } from "../browser/media.ts";
import { Fold } from "../conversation/fold.tsx";
import { LineCounts } from "../diff/line-counts.tsx";
import { ChangeList } from "../parts/change-list.tsx";
import { CopyButton } from "../parts/copy-button.tsx";
import { ForeignText } from "../parts/foreign-text.tsx";
import { Link } from "../routing/link.tsx";
import { taskPath } from "../routing/route.ts";
import type { Attempt } from "../server/operate.ts";
import { counted } from "../wording/amounts.ts";
import { visibleText } from "../wording/hidden-characters.ts";

interface AttemptDetailsProps {
  attempt: Attempt;
  handle: string | null;
}

/** Without room beside it, the details would push the rest out of view. */
export function AttemptDetails({ attempt, handle }: AttemptDetailsProps) {
  const isFolded = useMedia("(max-width: 1279px)");
  const details = (
    <div className="flex min-w-0 flex-col gap-5">
      {attempt.repos.map((repo) => (
        <Worktree key={repo.repo_id} repo={repo} />
      ))}
      {handle !== null && (
        <Link
          href={taskPath(handle)}
          className="self-start text-accent underline decoration-accent/40 underline-offset-2 hover:decoration-accent"
        >
          Its task, with runs, tokens and cost
        </Link>
      )}
      <ChangeList subject={attempt.attempt_id} version={`${attempt.state} ${attempt.queued_count}`} />
    </div>
  );
  const line = (
    <>
      <span className="font-medium">Worktrees</span>
      <span className="foreign min-w-0 truncate text-muted">
        <ForeignText text={attempt.repos.map((repo) => `${repo.repo_name} → ${repo.target_branch}`).join(", ")} />
      </span>
    </>
  );
  return (
    <aside
      aria-label="Details"
      className="live-data min-w-0 xl:sticky xl:top-4 xl:order-2 xl:max-h-[calc(100dvh-5.5rem)] xl:self-start xl:overflow-y-auto"
    >
      {isFolded ? <Fold line={line}>{() => details}</Fold> : details}
    </aside>
  );
}

function Worktree({ repo }: { repo: Attempt["repos"][number] }) {
  const { path } = repo;
  return (
    <section aria-label={`Worktree of ${visibleText(repo.repo_name)}`} className="flex min-w-0 flex-col gap-2">
      <h2 className="foreign font-semibold">
        <ForeignText text={repo.repo_name} />
      </h2>
      <dl className="grid grid-cols-[5.5rem_minmax(0,1fr)] gap-x-3 gap-y-1.5">
        <dt className="text-faint">Target</dt>
        <dd className="foreign font-mono text-xs leading-5">
          <ForeignText text={repo.target_branch} />
        </dd>
        <dt className="text-faint">Changed</dt>
        <dd className="flex flex-wrap gap-x-2">
          {counted(repo.files, "file")}
          {repo.files > 0 && <LineCounts insertions={repo.insertions} deletions={repo.deletions} />}
        </dd>
        {repo.uncommitted > 0 && (
          <>
            <dt className="text-faint">Uncommitted</dt>
            <dd>{counted(repo.uncommitted, "path")}</dd>
          </>
        )}
        <dt className="text-faint">Worktree</dt>
        <dd className="foreign font-mono text-xs leading-5">
          <ForeignText text={path ?? "gone"} />
        </dd>
      </dl>
      {path !== null && (
        <span className="-ml-2.5">
          <CopyButton label="Copy path" text={() => path} />
        </span>
      )}
    </section>
  );
}
