/**
 * How far an action on many tasks is: a bar, the counts, and what failed, each with the server's reason.
 */
import { ForeignText } from "../../parts/foreign-text.tsx";
import { Link } from "../../routing/link.tsx";
import { taskPath } from "../../routing/route.ts";
import { failureText } from "../../server/failure.ts";
import { counted, countText } from "../../wording/amounts.ts";
import { BULK_KINDS, type BulkKind } from "./bulk-kinds.ts";
import type { BulkState } from "./bulk-run.ts";

/** More are counted, but not listed. */
const LISTED = 100;

interface BulkProgressProps {
  kind: BulkKind;
  state: BulkState;
  total: number;
  isOver: boolean;
}

export function BulkProgress({ kind, state, total, isOver }: BulkProgressProps) {
  const { words } = BULK_KINDS[kind];
  const { done, failures, left } = state;
  const ended = done + failures.length;
  return (
    <>
      <progress aria-label={words.acting} value={ended} max={total} className="h-2 w-full accent-[var(--accent)]" />
      <p role="status" className="font-medium" data-bulk={isOver ? "over" : "working"}>
        {isOver
          ? `${counted(done, "task")} ${words.acted}`
          : `${words.acting}: ${countText(ended)} of ${countText(total)}`}
        {failures.length > 0 && <span className="text-error">, {countText(failures.length)} not</span>}
        {isOver && left > 0 && <span className="text-muted">, {countText(left)} not tried: it was stopped</span>}
      </p>
      {failures.length > 0 && (
        <ul
          aria-label="What failed"
          // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keys
          tabIndex={0}
          className="flex max-h-60 flex-col gap-1.5 overflow-y-auto rounded-lg border border-error/35 bg-error/8 px-3 py-2"
        >
          {failures.slice(0, LISTED).map(({ task, reason }) => (
            <li key={task.id} className="min-w-0">
              <Link
                href={taskPath(task.id)}
                className="foreign block truncate font-medium underline-offset-2 hover:underline"
              >
                <ForeignText text={task.description || task.id} />
              </Link>
              <span className="foreign text-muted">
                <ForeignText text={failureText(reason)} />
              </span>
            </li>
          ))}
          {failures.length > LISTED && <li>and {countText(failures.length - LISTED)} more</li>}
        </ul>
      )}
    </>
  );
}
