/**
 * A task's relations: its parent (not always a task itself), its batch, what it starts after, and the tasks it
 * launched.
 */
import type { BackgroundTask } from "../../../src/protocol/tasks.ts";
import { ForeignText } from "../parts/foreign-text.tsx";
import { StatusIcon } from "../parts/status-mark.tsx";
import { Link } from "../routing/link.tsx";
import { batchPath, taskPath } from "../routing/route.ts";
import { useChildren, useTask } from "../server/queries.ts";
import { countText } from "../wording/amounts.ts";
import { hasNotStarted } from "../wording/phase.ts";

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
        {task.after !== null && (
          <>
            <dt className="text-faint">Starts after</dt>
            <dd className="min-w-0">
              <Predecessors ids={task.after.tasks} />
              <span className="text-muted">{IF_FAILED[task.after.ifFailed]}</span>
            </dd>
          </>
        )}
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

const IF_FAILED: Record<NonNullable<BackgroundTask["after"]>["ifFailed"], string> = {
  skip: "Not run if one of them does not complete",
  run_anyway: "Runs even if one of them does not complete",
  wait: "If one of them does not complete, a person decides",
};

const SHOWN = 10;

function Predecessors({ ids }: { ids: readonly string[] }) {
  return (
    <ul aria-label="Starts after" className="flex flex-col gap-1">
      {ids.slice(0, SHOWN).map((id) => (
        <Predecessor key={id} id={id} />
      ))}
      {ids.length > SHOWN && <li className="text-muted">and {countText(ids.length - SHOWN)} more</li>}
    </ul>
  );
}

function Predecessor({ id }: { id: string }) {
  const { data: task } = useTask(id);
  if (!task) return <li className="foreign font-mono text-xs">{id}</li>;
  return (
    <li data-status={task.status} className="flex items-start gap-1.5">
      <StatusIcon status={task.status} isWaiting={hasNotStarted(task)} />
      <span className="sr-only">{hasNotStarted(task) ? "waiting" : task.status}</span>
      <Link href={taskPath(id)} className={LINK}>
        <ForeignText text={task.description || id} />
      </Link>
    </li>
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
          <StatusIcon status={child.status} isWaiting={hasNotStarted(child)} />
          <span className="sr-only">{hasNotStarted(child) ? "waiting" : child.status}</span>
          <Link href={taskPath(child.id)} className={LINK}>
            <ForeignText text={child.description || child.id} />
          </Link>
        </li>
      ))}
      {total > tasks.length && <li className="text-muted">and {countText(total - tasks.length)} more</li>}
    </ul>
  );
}
