/**
 * Approves or denies a request, unless somebody else has decided otherwise, then fetches the remaining ones.
 */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { codeOf } from "../server/failure.ts";
import { operate } from "../server/operate.ts";
import { queryKeys } from "../server/query-keys.ts";

export function isLate(failure: Error): boolean {
  return codeOf(failure) === "nothing_asked";
}

/** `onLate`: somebody else was faster and decided otherwise. Also called if the request is no longer shown. */
export function useDecision(approvalId: string, onLate: (failure: Error) => void) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (decision: "approve" | "deny") =>
      operate("decide_approval", { approval_id: approvalId, decision, if_requested: true }),
    onSuccess: () => queries.invalidateQueries({ queryKey: queryKeys.approvals }),
    onError: (failure) => {
      if (!isLate(failure)) return;
      onLate(failure);
      return queries.invalidateQueries({ queryKey: queryKeys.approvals });
    },
  });
}
