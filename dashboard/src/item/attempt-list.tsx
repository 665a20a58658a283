/**
 * The attempts at a work item, newest first, each with its state and its changes.
 */
import { AttemptStateMark } from "../attempt/attempt-state-mark.tsx";
import { LineCounts } from "../diff/line-counts.tsx";
import { Button } from "../parts/button.tsx";
import { FailureNote } from "../parts/failure-note.tsx";
import { ForeignText } from "../parts/foreign-text.tsx";
import { Icon } from "../parts/icons.tsx";
import { Ago } from "../parts/times.tsx";
import { Link } from "../routing/link.tsx";
import { attemptPath } from "../routing/route.ts";
import { useAttempt, useAttempts } from "../server/board-queries.ts";
import type { AttemptRow, Item } from "../server/operate.ts";
import { executorLabel } from "../wording/attempts.ts";

export function AttemptList({ item }: { item: Item }) {
  const attempts = useAttempts(item.id);
  const rows = attempts.data?.pages.flatMap((page) => page.attempts) ?? [];
  return (
    <section aria-label="Attempts" className="live-data flex min-w-0 flex-col gap-2">
      <h2 className="text-[15px] font-semibold">Attempts</h2>
      {attempts.isPending && <p className="text-muted">Loading the attempts…</p>}
      {attempts.isError && (
        <FailureNote
          title="The attempts could not be loaded"
          failure={attempts.error}
          onRetry={() => void attempts.refetch()}
        />
      )}
      {attempts.isSuccess && rows.length === 0 && (
        <p className="rounded-lg border border-dashed border-strong-line px-4 py-6 text-center text-muted">
          No attempts yet. Start one: an agent works on it in its own git worktree.
        </p>
      )}
      {rows.length > 0 && (
        <ol className="flex flex-col divide-y divide-line overflow-hidden rounded-lg border border-line bg-surface">
          {rows.map((row) => (
            <AttemptLine key={row.attempt_id} row={row} />
          ))}
        </ol>
      )}
      {attempts.hasNextPage && (
        <Button
          className="self-center"
          disabled={attempts.isFetchingNextPage}
          onClick={() => void attempts.fetchNextPage()}
        >
          {attempts.isFetchingNextPage ? "Loading…" : "Show more"}
        </Button>
      )}
    </section>
  );
}

function AttemptLine({ row }: { row: AttemptRow }) {
  const { data: attempt } = useAttempt(row.attempt_id, { isListed: true });
  const executor = row.latest_session_executor ?? attempt?.executor;
  const sum = (field: "files" | "insertions" | "deletions") =>
    attempt?.repos.reduce((total, repo) => total + repo[field], 0) ?? 0;
  return (
    <li data-attempt-id={row.attempt_id} className="relative flex flex-col gap-1 px-3 py-2.5 hover:bg-raised">
      <div className="flex min-w-0 flex-wrap items-center gap-x-3 gap-y-1">
        <Link
          href={attemptPath(row.attempt_id)}
          className="flex min-w-0 items-center gap-1.5 font-mono text-xs outline-offset-4 after:absolute after:inset-0"
        >
          <Icon name="branch" className="size-3.5 text-faint" />
          <span className="foreign min-w-0">
            <ForeignText text={row.workspace_branch} />
          </span>
        </Link>
        <span className="ml-auto flex items-center gap-3">
          {attempt && sum("files") > 0 && <LineCounts insertions={sum("insertions")} deletions={sum("deletions")} />}
          {attempt && <AttemptStateMark state={attempt.state} />}
        </span>
      </div>
      <p className="flex gap-3 text-xs text-faint">
        {executor && <span>{executorLabel(executor)}</span>}
        <Ago at={row.created_at} />
      </p>
    </li>
  );
}
