/**
 * A task's relations: its parent (not always a task itself), its batch, and the tasks it launched.
 */
import type { BackgroundTask } from "../../../src/protocol/tasks.ts";
import { ForeignText } from "../parts/foreign-text.tsx";
import { StatusIcon } from "../parts/status-mark.tsx";
import { Link } from "../routing/link.tsx";
import { batchPath, taskPath } from "../routing/route.ts";
import { useChildren, useTask } from "../server/queries.ts";
import { countText } from "../wording/amounts.ts";

const LINK = "foreign text-accent underline decoration-accent/40 underline-offset-2 hover:decoration-accent";

export function TaskFamily({ task }: { task: BackgroundTask }) {
  const { data: children } = useChildren(task.sessionID);
  return (
    <section aria-label="Family" className="flex flex-col gap-2">
      <h2 className="font-semibold">Family</h2>
      <dl className="grid grid-cols-[6.5rem_minmax(0,1fr)] gap-x-3 gap-y-1.5">
        <dt className="text-faint">Parent</dt>
        <dd className="min-w-0">
          {task.parentSessionID === null ? (
            "a person"
          ) : (
            <Parent sessionId={task.parentSessionID} agent={task.parentAgent} />
          )}
        </dd>
        <dt className="text-faint">Batch</dt>
        <dd className="min-w-0">
          <Link href={batchPath(task.batchId)} className={LINK}>
            <ForeignText text={task.batchId} />
          </Link>
        </dd>
        {children !== undefined && children.total > 0 && (
          <>
            <dt className="text-faint">Children</dt>
            <dd className="min-w-0">
              <Children tasks={children.tasks} total={children.total} />
            </dd>
          </>
        )}
      </dl>
    </section>
  );
}

function Parent({ sessionId, agent }: { sessionId: string; agent: string | null }) {
  const { data: parent } = useTask(sessionId);
  if (parent) {
    return (
      <Link href={taskPath(parent.id)} className={LINK}>
        <ForeignText text={parent.description || parent.id} />
      </Link>
    );
  }
  return (
    <span className="foreign">
      <span className="font-mono text-xs">{sessionId}</span>
      {agent && (
        <span className="text-muted">
          {" "}
          (<ForeignText text={agent} />)
        </span>
      )}
    </span>
  );
}

function Children({ tasks, total }: { tasks: readonly BackgroundTask[]; total: number }) {
  return (
    <ul aria-label="Children" className="flex flex-col gap-1">
      {tasks.map((child) => (
        <li key={child.id} data-status={child.status} className="flex items-start gap-1.5">
          <StatusIcon status={child.status} />
          <span className="sr-only">{child.status}</span>
          <Link href={taskPath(child.id)} className={LINK}>
            <ForeignText text={child.description || child.id} />
          </Link>
        </li>
      ))}
      {total > tasks.length && <li className="text-muted">and {countText(total - tasks.length)} more</li>}
    </ul>
  );
}
