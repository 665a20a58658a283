/** Tells a reader that a decision came too late, until they dismiss it. The request itself is gone by then. */
import { Button } from "../parts/button.tsx";
import { FailureNote } from "../parts/failure-note.tsx";
import { ForeignText } from "../parts/foreign-text.tsx";

export interface LateDecision {
  id: string;
  directory: string;
  failure: Error;
}

export function LateNote({ late, onDismiss }: { late: LateDecision; onDismiss: () => void }) {
  return (
    <div className="flex min-w-0 items-start gap-2 py-3">
      <div className="min-w-0 flex-1">
        <FailureNote title="Your decision came too late" failure={late.failure} />
        <p className="foreign mt-1 font-mono text-xs break-all text-muted">
          <ForeignText text={late.directory} />
        </p>
      </div>
      <Button weight="quiet" onClick={onDismiss}>
        Dismiss
      </Button>
    </div>
  );
}
