/**
 * Raises a budget that is used up: one field for the new limits, as on the command line.
 */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { budgetBody } from "../../../src/protocol/budget-body.ts";
import { FIELD } from "../forms/form-fields.tsx";
import { Button } from "../parts/button.tsx";
import { FailureNote } from "../parts/failure-note.tsx";
import { control } from "../server/page-client.ts";
import { queryKeys } from "../server/query-keys.ts";

export function RaiseForm({ id }: { id: string }) {
  const queries = useQueryClient();
  const [text, setText] = useState("");
  const raise = useMutation({
    mutationFn: async () => control((client) => client.setBudget(id, budgetBody(text))),
    onSettled: () =>
      Promise.all([queryKeys.inbox, queryKeys.budgets].map((key) => queries.invalidateQueries({ queryKey: [...key] }))),
  });
  return (
    <form
      className="flex flex-col gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        raise.mutate();
      }}
    >
      <div className="flex max-w-md gap-2">
        <input
          aria-label="New budget"
          required
          value={text}
          placeholder="$5 2h"
          autoComplete="off"
          onChange={(event) => setText(event.target.value)}
          className={FIELD}
        />
        <Button type="submit" disabled={raise.isPending}>
          Raise it
        </Button>
      </div>
      <p className="text-xs text-muted">Such as $5, 2h, 500ktok or 10tasks. Its tasks can then be continued.</p>
      {raise.isError && <FailureNote title="The budget was not raised" failure={raise.error} />}
    </form>
  );
}
