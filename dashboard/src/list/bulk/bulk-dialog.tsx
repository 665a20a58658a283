/**
 * Asks before something is done to many tasks, does it, and tells how it went. The tasks are chosen once, when the
 * dialog opens: what comes to match later is left alone.
 */
import { useQuery } from "@tanstack/react-query";
import { useEffect, useId, useRef, useState } from "react";
import { ChoiceField } from "../../forms/form-fields.tsx";
import { Button } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { FailureNote } from "../../parts/failure-note.tsx";
import { ForeignText } from "../../parts/foreign-text.tsx";
import { type Filters, filterQuery } from "../../routing/filters.ts";
import { readingClient } from "../../server/page-client.ts";
import { counted, countText } from "../../wording/amounts.ts";
import { filterWords } from "../filter-words.ts";
import { BULK_KINDS, type BulkKind, cancelTask, launchAgain, statusesFor } from "./bulk-kinds.ts";
import { BulkProgress } from "./bulk-progress.tsx";
import { type BulkState, type BulkTask, runBulk } from "./bulk-run.ts";
import { EXPORT_FORMATS, ExportFile, type ExportFormat } from "./export-file.ts";

interface BulkDialogProps {
  kind: BulkKind;
  filters: Filters;
  onClose: () => void;
}

export function BulkDialog({ kind, filters, onClose }: BulkDialogProps) {
  const { words, meaning, most } = BULK_KINDS[kind];
  const [openedAt] = useState(() => Date.now());
  const chosen = useChosen(kind, filters, openedAt);
  const [format, setFormat] = useState<ExportFormat>("jsonl");
  const { state, isOver, begin, stop } = useBulk(kind, format);
  const tasks = chosen.data?.tasks ?? [];
  const more = (chosen.data?.total ?? 0) - tasks.length;
  const title = chosen.data ? `${words.act} ${counted(tasks.length, "task")}` : `${words.act} all that match`;
  return (
    <Dialog title={state === null ? `${title}?` : title} onClose={onClose}>
      {chosen.isPending && <p className="text-muted">Counting…</p>}
      {chosen.isError && (
        <FailureNote
          title="The tasks could not be counted"
          failure={chosen.error}
          onRetry={() => void chosen.refetch()}
        />
      )}
      {chosen.data && state === null && (
        <>
          <p className="foreign">
            {tasks.length === 0 ? "No task matches: " : "Those that match: "}
            <ForeignText text={filterWords(filters, openedAt).join(", ")} />.{narrowing(kind, filters)}
          </p>
          {more > 0 && (
            <p className="text-attention">
              {countText(tasks.length)} is the most at once: {counted(more, "further task")} would be left. Do it again
              for them.
            </p>
          )}
          <p className="text-muted">{meaning}</p>
          {tasks.length > 0 && <FirstTasks tasks={tasks} />}
          {kind === "export" && (
            <ChoiceField
              label="Format"
              value={format}
              onChange={(value) => setFormat(value === "markdown" ? "markdown" : "jsonl")}
              options={Object.entries(EXPORT_FORMATS).map(([value, label]) => ({ value, label }))}
            />
          )}
        </>
      )}
      {state !== null && <BulkProgress kind={kind} state={state} total={tasks.length} isOver={isOver} />}
      <div className="flex flex-wrap justify-end gap-2">
        {state !== null && !isOver && <Button onClick={stop}>Stop</Button>}
        {(state === null || isOver) && <Button onClick={onClose}>Close</Button>}
        {state === null && (
          <Button
            weight={kind === "cancel" ? "danger" : "primary"}
            disabled={tasks.length === 0 || tasks.length > most}
            onClick={() => begin(tasks)}
          >
            {words.act} {counted(tasks.length, "task")}
          </Button>
        )}
      </div>
    </Dialog>
  );
}

/** Said if the filter alone would match more. */
function narrowing(kind: BulkKind, { statuses }: Filters): string {
  if (kind === "export" || (statuses.length > 0 && statuses.every((each) => BULK_KINDS[kind].statuses.includes(each))))
    return "";
  return kind === "cancel" ? " Only tasks at work." : " Only those that failed or were cancelled.";
}

function useChosen(kind: BulkKind, filters: Filters, openedAt: number) {
  const id = useId();
  return useQuery({
    queryKey: ["selection", id],
    queryFn: ({ signal }) => {
      const query = { ...filterQuery(filters, openedAt), status: statusesFor(filters, kind) };
      return readingClient.selection({ ...query, limit: BULK_KINDS[kind].most }, signal);
    },
    // Fixed from now on, whatever happens in the meantime.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
}

function useBulk(kind: BulkKind, format: ExportFormat) {
  const [state, setState] = useState<BulkState | null>(null);
  const [isOver, setIsOver] = useState(false);
  const abort = useRef(new AbortController());
  // A dialog that is closed goes no further.
  useEffect(() => {
    const { current } = abort;
    return () => current.abort();
  }, []);
  const begin = async (tasks: readonly BulkTask[]) => {
    const file = new ExportFile(format);
    const act = {
      cancel: ({ id }: BulkTask) => cancelTask(id),
      retry: ({ id }: BulkTask) => launchAgain(id),
      export: async (task: BulkTask) => file.put(tasks.indexOf(task), await readingClient.task(task.id)),
    }[kind];
    const last = await runBulk(tasks, act, { signal: abort.current.signal, onState: setState });
    if (kind === "export" && last.done > 0) file.save(new Date());
    setIsOver(true);
  };
  return { state, isOver, begin: (tasks: readonly BulkTask[]) => void begin(tasks), stop: () => abort.current.abort() };
}

const SHOWN = 5;

function FirstTasks({ tasks }: { tasks: readonly BulkTask[] }) {
  const more = tasks.length - SHOWN;
  return (
    <ul aria-label="Tasks" className="rounded-lg border border-line bg-page px-3 py-2">
      {tasks.slice(0, SHOWN).map(({ id, description }) => (
        <li key={id} className="foreign truncate py-0.5">
          <ForeignText text={description || id} />
        </li>
      ))}
      {more > 0 && <li className="py-0.5 text-muted">and {countText(more)} more</li>}
    </ul>
  );
}
