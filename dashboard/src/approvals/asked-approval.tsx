/**
 * One request for an approval: the whole script or the directory, who asked, and the two answers. A long script can be
 * approved only after all of it was shown.
 */

import { useState } from "react";
import { Button } from "../parts/button.tsx";
import { FailureNote } from "../parts/failure-note.tsx";
import { ForeignText } from "../parts/foreign-text.tsx";
import { Icon } from "../parts/icons.tsx";
import { Ago } from "../parts/times.tsx";
import type { Approval } from "../server/operate.ts";
import { Allowed } from "../session/allowed.tsx";
import { ApprovalScript, isShort } from "./approval-script.tsx";
import { isLate, useDecision } from "./use-decision.ts";

interface AskedApprovalProps {
  approval: Approval;
  /** Whether it has been in its place for a moment. */
  isSettled: boolean;
  onLate: (failure: Error) => void;
}

export function AskedApproval({ approval, isSettled, onLate }: AskedApprovalProps) {
  const { kind, directory, script, asked_by, created_at } = approval;
  const decision = useDecision(approval.approval_id, onLate);
  const [showsAll, setShowsAll] = useState(script === null || isShort(script));
  return (
    <article data-approval={approval.approval_id} className="flex min-w-0 flex-col gap-2 py-3">
      <p className="flex min-w-0 flex-wrap items-baseline gap-x-1.5 text-ink">
        <Icon name="waiting" className="self-center text-attention" />
        <span className="font-medium">
          {kind === "setup" ? "Run this script in each new worktree of" : "Let agents work in"}
        </span>
        <span className="foreign font-mono text-xs break-all">
          <ForeignText text={directory} />
        </span>
        <span className="text-xs text-muted">
          asked by <ForeignText text={asked_by} />, <Ago at={created_at} />
        </span>
      </p>
      {script !== null && <ApprovalScript text={script} showsAll={showsAll} onShowAll={() => setShowsAll(true)} />}
      {decision.error !== null && !isLate(decision.error) && (
        <FailureNote title="The decision was not saved" failure={decision.error} />
      )}
      <Allowed
        to="decide_approval"
        instead={<p className="text-muted">Somebody with the role “admin” decides this.</p>}
      >
        <div className="flex gap-2">
          <Button
            weight="primary"
            disabled={!showsAll || !isSettled || decision.isPending}
            {...(!showsAll && { title: "View the whole script first" })}
            onClick={() => decision.mutate("approve")}
          >
            Approve
          </Button>
          <Button weight="danger" disabled={decision.isPending} onClick={() => decision.mutate("deny")}>
            Deny
          </Button>
        </div>
      </Allowed>
    </article>
  );
}
