/**
 * Says that whoever launched a task was not notified yet, or will not be, and why; and can notify it again. A program
 * that launched it over MCP is named, also when it was told.
 */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import type { BackgroundTask } from "../../../src/protocol/tasks.ts";
import { Button } from "../parts/button.tsx";
import { FailureNote } from "../parts/failure-note.tsx";
import { ForeignText } from "../parts/foreign-text.tsx";
import { Icon } from "../parts/icons.tsx";
import { control, readingClient } from "../server/page-client.ts";
import { queryKeys } from "../server/query-keys.ts";
import { Allowed } from "../session/allowed.tsx";

const LOOK_MS = 5000;

/** For a task without a parent session: which program is told, and how that went. */
function ToldLine({ notice }: { notice: NonNullable<BackgroundTask["notice"]> }) {
  const words = { pending: "Not told yet", sending: "Being told", delivered: "Told", dropped: "Not told" };
  return (
    <p className="foreign max-w-full text-muted">
      {words[notice.state]}: <ForeignText text={notice.to} />
      {notice.reason !== null && (
        <>
          {" ("}
          <ForeignText text={notice.reason} />)
        </>
      )}
    </p>
  );
}

export function ParentNotice({ task }: { task: BackgroundTask }) {
  const queries = useQueryClient();
  const queryKey = queryKeys.noticeAt(task.id, `${task.status} ${task.run.number}`);
  // There is no event for it.
  const { data: notice } = useQuery({
    queryKey,
    queryFn: async ({ signal }) => (await readingClient.task(task.id, signal)).notice ?? null,
    refetchInterval: ({ state }) => (state.data && state.data.state !== "delivered" ? LOOK_MS : false),
  });
  const tell = useMutation({
    mutationFn: () => control((client) => client.tell(task.id)),
    onSettled: () => queries.invalidateQueries({ queryKey }),
  });
  if (!notice) return null;
  if (notice.state === "delivered" || notice.reason === null)
    return task.parentSessionID === null ? <ToldLine notice={notice} /> : null;
  return (
    <section
      aria-label="Parent not told"
      className="flex min-w-0 flex-col items-start gap-2 rounded-lg border border-attention/40 bg-attention-soft px-4 py-3"
    >
      <p className="foreign max-w-full">
        <Icon name="warning" className="mr-2 inline-block align-[-2px] text-attention" />
        {notice.state === "dropped" ? "Its parent was not told: " : "Its parent is not told yet: "}
        <ForeignText text={notice.reason} />
      </p>
      <Allowed to="tell">
        <Button disabled={tell.isPending} onClick={() => tell.mutate()}>
          Tell it again
        </Button>
      </Allowed>
      {tell.isError && <FailureNote title="The parent was not told" failure={tell.error} />}
    </section>
  );
}
