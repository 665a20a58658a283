/**
 * Performs an action on an attempt, then refetches everything the board shows: its card, its item and the attempt
 * itself may have changed.
 */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { queryKeys } from "../server/query-keys.ts";

export function useAttemptAction<Input = void, Output = unknown>(
  act: (input: Input) => Promise<Output>,
  onDone?: (output: Output) => void,
) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: act,
    onSuccess: (output) => {
      onDone?.(output);
      void queries.invalidateQueries({ queryKey: [...queryKeys.board] });
    },
  });
}
