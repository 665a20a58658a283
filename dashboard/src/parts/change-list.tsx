/**
 * Who changed something, newest first: the entries of the audit log about one task, attempt or work item. Shows nothing
 * if there are none. `version` changes when there may be more.
 */
import { useQuery } from "@tanstack/react-query";
import type { AuditPage } from "../../../src/protocol/server.ts";
import { readingClient } from "../server/page-client.ts";
import { queryKeys } from "../server/query-keys.ts";
import { changeText } from "../wording/changes.ts";
import { ForeignText } from "./foreign-text.tsx";
import { Ago } from "./times.tsx";

const SHOWN = 20;

export function ChangeList({ subject, version }: { subject: string; version: string }) {
  const { data } = useQuery({
    queryKey: queryKeys.changesAt(subject, version),
    queryFn: ({ signal }) => readingClient.audit({ subject, limit: SHOWN }, signal),
    placeholderData: (previous) => previous,
  });
  if (data === undefined || data.entries.length === 0) return null;
  return (
    <section aria-label="Who changed it" className="flex flex-col gap-2">
      <h2 className="font-semibold">Who changed it</h2>
      <ol className="flex flex-col gap-1 text-xs text-muted">
        {data.entries.map((entry) => (
          <Change key={entry.seq} entry={entry} />
        ))}
      </ol>
    </section>
  );
}

function Change({ entry }: { entry: AuditPage["entries"][number] }) {
  return (
    <li className="flex min-w-0 items-baseline gap-1.5">
      <span className="foreign min-w-0 truncate">
        <span className="font-medium text-ink">
          <ForeignText text={entry.by} />
        </span>{" "}
        {changeText(entry)}
      </span>
      <span className="ml-auto shrink-0 text-faint">
        <Ago at={entry.at} />
      </span>
    </li>
  );
}
