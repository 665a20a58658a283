/**
 * Requests by models that only a person may approve, above every view until someone decides. A decision that came too
 * late is reported until the reader dismisses it. A new request appears below the others, and for a moment after any
 * change nothing can be approved, so that a click cannot meet another request than it was meant for. Shows nothing if
 * there is no request, or no daemon.
 */
import { useState } from "react";
import { useSettled } from "../forms/use-settled.ts";
import { useApprovals } from "../server/board-queries.ts";
import { AskedApproval } from "./asked-approval.tsx";
import { type LateDecision, LateNote } from "./late-note.tsx";

export function ApprovalsBanner() {
  const { data: approvals = [] } = useApprovals();
  const [late, setLate] = useState<LateDecision[]>([]);
  const isSettled = useSettled([...late.map(({ id }) => id), ...approvals.map((each) => each.approval_id)].join());
  if (approvals.length === 0 && late.length === 0) return null;
  return (
    <section
      aria-label="Approvals"
      className="flex max-h-[55vh] flex-col divide-y divide-attention/30 overflow-y-auto border-b border-attention/30 bg-attention-soft px-4"
    >
      {late.map((each) => (
        <LateNote key={each.id} late={each} onDismiss={() => setLate((all) => all.filter((other) => other !== each))} />
      ))}
      {approvals.toReversed().map((approval) => (
        <AskedApproval
          key={approval.approval_id}
          approval={approval}
          isSettled={isSettled}
          onLate={(failure) => {
            const { approval_id: id, directory } = approval;
            setLate((all) => [...all.filter((other) => other.id !== id), { id, directory, failure }]);
          }}
        />
      ))}
    </section>
  );
}
