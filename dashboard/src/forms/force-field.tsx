/**
 * Overrides a rejection that protects work: offered only after the server has rejected the action for that reason.
 */
import type { ReactNode } from "react";
import { codeOf } from "../server/failure.ts";

const PROTECTS = new Set(["attempt_running", "worktree_dirty", "worktree_unmerged", "worktree_busy", "session_busy"]);

interface ForceFieldProps {
  failure: unknown;
  isForced: boolean;
  onForce: (isForced: boolean) => void;
  children: ReactNode;
}

export function ForceField({ failure, isForced, onForce, children }: ForceFieldProps) {
  if (!isForced && !PROTECTS.has(codeOf(failure) ?? "")) return null;
  return (
    <label className="flex items-center gap-2 font-medium text-error">
      <input type="checkbox" checked={isForced} onChange={(event) => onForce(event.target.checked)} />
      {children}
    </label>
  );
}
