/**
 * One entry of the inbox: a line that opens, and below it the form that answers it. What agents wrote is shown as text.
 */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { WireInboxEntry } from "../../../src/protocol/inbox.ts";
import { RaiseForm } from "../budget/raise-form.tsx";
import { Button } from "../parts/button.tsx";
import { FailureNote } from "../parts/failure-note.tsx";
import { ForeignText } from "../parts/foreign-text.tsx";
import { Icon, type IconName } from "../parts/icons.tsx";
import { Ago } from "../parts/times.tsx";
import { Link } from "../routing/link.tsx";
import { taskPath } from "../routing/route.ts";
import { control } from "../server/page-client.ts";
import { queryKeys } from "../server/query-keys.ts";
import { Allowed } from "../session/allowed.tsx";
import { PermissionForm, QuestionForm, useReply } from "../task/answer-forms.tsx";
import { exactText } from "../wording/durations.ts";
import { useReceipt } from "./use-receipt.ts";

/** Of a task or a budget: approvals have a banner of their own. */
export type ShownEntry = WireInboxEntry & ({ taskId: string } | { budgetId: string });
type TaskEntry = WireInboxEntry & { taskId: string };

const KINDS: Record<WireInboxEntry["kind"], { icon: IconName; says: string }> = {
  permission: { icon: "waiting", says: "needs permission" },
  question: { icon: "question", says: "has a question" },
  approval: { icon: "waiting", says: "needs approval" },
  blocked: { icon: "waiting", says: "cannot start" },
  failed: { icon: "error", says: "failed" },
  limit: { icon: "warning", says: "was stopped at a limit" },
  budget: { icon: "warning", says: "has used up its budget" },
  conflict: { icon: "warning", says: "could not be merged" },
};

interface InboxEntryProps {
  entry: ShownEntry;
  isOpen: boolean;
  onToggle: () => void;
}

export function InboxEntry({ entry, isOpen, onToggle }: InboxEntryProps) {
  const { icon, says } = KINDS[entry.kind];
  return (
    <li data-needs={entry.kind} className="flex min-w-0 flex-col">
      <button
        type="button"
        aria-expanded={isOpen}
        onClick={onToggle}
        className="flex min-h-9 w-full min-w-0 items-center gap-2 rounded-md py-1.5 text-left"
      >
        <Icon name="chevron" className={isOpen ? "rotate-90" : ""} />
        <Icon
          name={icon}
          className={entry.requestId === null && entry.kind !== "blocked" ? "text-error" : "text-attention"}
        />
        <span className="foreign min-w-0 flex-1 truncate">
          <span className="font-medium">
            <ForeignText text={entry.description} />
          </span>{" "}
          <span className="text-muted">{says}</span>
        </span>
        <span className="shrink-0 text-xs text-muted">
          <Ago at={entry.since} />
        </span>
      </button>
      {isOpen && (isOfTask(entry) ? <OpenEntry entry={entry} /> : <UsedUp entry={entry} />)}
    </li>
  );
}

function isOfTask(entry: WireInboxEntry): entry is TaskEntry {
  return entry.taskId !== null;
}

function UsedUp({ entry: { budgetId, text } }: { entry: WireInboxEntry }) {
  return (
    <div className="flex min-w-0 flex-col gap-2 pb-3 pl-6">
      <RequestText text={text} />
      {budgetId !== null && (
        <Allowed to="setBudget">
          <RaiseForm id={budgetId} />
        </Allowed>
      )}
    </div>
  );
}

function OpenEntry({ entry }: { entry: TaskEntry }) {
  const { taskId, requestId, text, kind, policy } = entry;
  useReceipt(entry);
  return (
    <div className="flex min-w-0 flex-col gap-2 pb-3 pl-6">
      <p className="foreign text-xs break-all text-muted">
        <ForeignText
          text={[entry.agent, entry.host, entry.machine, entry.directory].filter(Boolean).join(" \u00b7 ")}
        />{" "}
        <Link href={taskPath(taskId)} className="whitespace-nowrap text-accent underline underline-offset-2">
          Open the task
        </Link>
      </p>
      {policy !== null && (
        <p className="text-xs text-muted">
          A policy {policy.decision === "allow" ? "allows" : "denies"} it at {exactText(policy.until)} if nobody
          answers.
        </p>
      )}
      {kind === "blocked" ? (
        <Blocked entry={entry} />
      ) : kind === "conflict" ? (
        <RequestText text={text} />
      ) : requestId === null ? (
        <Failed entry={entry} />
      ) : entry.isShortened ? (
        <OnlyBeginning text={text} />
      ) : (
        <Allowed to="answer" instead={<RequestText text={text} />}>
          <Answer taskId={taskId} requestId={requestId} text={text} kind={kind} />
        </Allowed>
      )}
    </div>
  );
}

/** Nobody allows or answers what they have not been shown whole. The page of the task has all of it. */
function OnlyBeginning({ text }: { text: string }) {
  return (
    <>
      <RequestText text={`${text}…`} />
      <p className="text-xs text-attention">
        This is only its beginning: it is too long for here. Open the task to read all of it and to answer.
      </p>
    </>
  );
}

function RequestText({ text }: { text: string }) {
  return (
    <p className="foreign max-h-40 overflow-y-auto font-mono text-xs whitespace-pre-wrap">
      <ForeignText text={text} />
    </p>
  );
}

function Answer({
  taskId,
  requestId,
  text,
  kind,
}: Pick<TaskEntry, "taskId" | "text" | "kind"> & { requestId: string }) {
  const reply = useReply(taskId);
  const Form = kind === "question" ? QuestionForm : PermissionForm;
  return <Form key={requestId} requestId={requestId} text={text} reply={reply} />;
}

/** It waits for a task that did not complete. Resuming that one is done on its own page. */
function Blocked({ entry: { taskId, text } }: { entry: TaskEntry }) {
  const queries = useQueryClient();
  const decide = useMutation({
    mutationFn: (decision: "start" | "cancel") =>
      control((client) =>
        decision === "start" ? client.edit(taskId, { ifFailed: "run_anyway" }) : client.cancel(taskId),
      ),
    onSettled: () => queries.invalidateQueries({ queryKey: queryKeys.inbox }),
  });
  return (
    <>
      <RequestText text={text} />
      {decide.isError && <FailureNote title="Nothing was changed" failure={decide.error} />}
      <Allowed to="edit">
        <div className="flex flex-wrap gap-2">
          <Button disabled={decide.isPending} onClick={() => decide.mutate("start")}>
            Start it all the same
          </Button>
          <Button weight="danger" disabled={decide.isPending} onClick={() => decide.mutate("cancel")}>
            Cancel it
          </Button>
        </div>
      </Allowed>
    </>
  );
}

function Failed({ entry: { taskId, text } }: { entry: TaskEntry }) {
  const queries = useQueryClient();
  const read = useMutation({
    mutationFn: () => control((client) => client.read(taskId)),
    onSettled: () => queries.invalidateQueries({ queryKey: queryKeys.inbox }),
  });
  return (
    <>
      <RequestText text={text} />
      {read.isError && <FailureNote title="It was not marked as read" failure={read.error} />}
      <Allowed to="read">
        <div>
          <Button disabled={read.isPending} onClick={() => read.mutate()}>
            Mark as read
          </Button>
        </div>
      </Allowed>
    </>
  );
}
