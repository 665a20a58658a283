/**
 * Approves or denies a request, then fetches the remaining ones.
 */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { operate } from "../server/operate.ts";
import { queryKeys } from "../server/query-keys.ts";

export function useDecision(approvalId: string) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (decision: "approve" | "deny") => operate("decide_approval", { approval_id: approvalId, decision }),
    onSuccess: () => queries.invalidateQueries({ queryKey: queryKeys.approvals }),
  });
}
