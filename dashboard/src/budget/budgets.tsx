/**
 * The budgets of a task or a batch: what is used of what, live. Shows nothing if there are none.
 */
import type { WireBudget } from "../../../src/protocol/budgets.ts";
import { ForeignText } from "../parts/foreign-text.tsx";
import { useBudgets } from "../server/queries.ts";
import { Allowed } from "../session/allowed.tsx";
import { RaiseForm } from "./raise-form.tsx";

const KINDS: Record<WireBudget["kind"], string> = { task: "this task", batch: "the batch", session: "the session" };

/** Of a task: all that it counts in. Of a batch: its own. */
export function Budgets(of: { task: string } | { id: string }) {
  const { data: budgets = [] } = useBudgets(of);
  if (budgets.length === 0) return null;
  return (
    <section aria-label="Budgets" className="live-data flex min-w-0 flex-col gap-3">
      {budgets.map((budget) => (
        <BudgetBar key={budget.id} budget={budget} isOwn={"id" in of || budget.subject === of.task} />
      ))}
    </section>
  );
}

function BudgetBar({ budget, isOwn }: { budget: WireBudget; isOwn: boolean }) {
  const { id, kind, subject, share, text, usedUpAt } = budget;
  const percent = Math.floor(share * 100);
  const colour = share >= 1 ? "bg-error" : share >= 0.8 ? "bg-attention" : "bg-accent";
  const whose = kind === "task" && !isOwn ? "the task above it" : KINDS[kind];
  return (
    <div className="flex min-w-0 flex-col gap-1.5" title={id}>
      <div className="flex items-baseline justify-between gap-3">
        <span className="foreign min-w-0 truncate font-medium">
          Budget of {whose}
          {(kind === "session" || (kind === "task" && !isOwn)) && (
            <span className="font-normal text-muted">
              {" "}
              <ForeignText text={subject} />
            </span>
          )}
        </span>
        <span className={usedUpAt === null ? "text-muted" : "text-error"}>
          {usedUpAt === null ? `${percent}%` : "used up"}
        </span>
      </div>
      <div
        role="progressbar"
        aria-label={`Budget of ${whose}`}
        aria-valuenow={Math.min(percent, 100)}
        aria-valuemin={0}
        aria-valuemax={100}
        className="h-2 overflow-hidden rounded-full bg-raised"
      >
        <span className={`block h-full ${colour}`} style={{ width: `${Math.min(percent, 100)}%` }} />
      </div>
      <p className="text-xs text-muted">{text}</p>
      {usedUpAt !== null && (
        <Allowed to="setBudget">
          <RaiseForm id={id} />
        </Allowed>
      )}
    </div>
  );
}
