/**
 * One batch: its totals, what starts after what, and the timeline of its tasks.
 */
import { Budgets } from "../budget/budgets.tsx";
import { FamilyKeys } from "../family/family-keys.tsx";
import { Button } from "../parts/button.tsx";
import { FailureNote } from "../parts/failure-note.tsx";
import { ForeignText } from "../parts/foreign-text.tsx";
import { Icon } from "../parts/icons.tsx";
import { Link } from "../routing/link.tsx";
import { navigateToList } from "../routing/location.ts";
import { codeOf } from "../server/failure.ts";
import { useGroup } from "../server/queries.ts";
import { AfterGraph } from "./after-graph.tsx";
import { BatchTotals } from "./batch-totals.tsx";
import { Timeline } from "./timeline.tsx";

export function BatchPage({ id }: { id: string }) {
  const { data: group, error, isPending, refetch } = useGroup(id);
  const isMissing = codeOf(error) === "group_not_found";
  return (
    <div className="mx-auto flex w-full max-w-7xl flex-col gap-5 px-3 py-4 sm:px-5 sm:py-6">
      <header className="flex items-start gap-2">
        <Button weight="quiet" className="-ml-2 w-8 px-0" aria-label="Back to the list" onClick={navigateToList}>
          <Icon name="back" />
        </Button>
        <h1 className="foreign min-w-0 pt-0.5 text-lg leading-snug font-semibold tracking-tight sm:text-xl">
          <span className="font-normal text-muted">Batch</span> <ForeignText text={id} />
        </h1>
      </header>
      {isPending && <p className="text-muted">Loading the batch…</p>}
      {!group && error && (
        <>
          <FailureNote
            title={isMissing ? "There is no such batch" : "The batch could not be loaded"}
            failure={error}
            {...(isMissing ? {} : { onRetry: () => void refetch() })}
          />
          <Link href="/" className="self-start text-accent underline underline-offset-2">
            All tasks
          </Link>
        </>
      )}
      {group && (
        <>
          <FamilyKeys taskId={null} batchId={id} parentSessionId={group.tasks[0]?.parentSessionID ?? null} />
          <BatchTotals group={group} />
          <Budgets id={`batch:${id}`} />
          {group.truncated && (
            <p className="text-attention">This batch is larger than shown: only its newest part is listed.</p>
          )}
          <AfterGraph tasks={group.tasks} />
          <Timeline group={group} />
        </>
      )}
    </div>
  );
}
