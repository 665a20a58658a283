/**
 * The status of a work item, as a select.
 */

import { ChoiceField } from "../forms/form-fields.tsx";
import { FailureNote } from "../parts/failure-note.tsx";
import type { Item, ItemStatus } from "../server/operate.ts";
import { ITEM_STATUSES, itemStatusLabel } from "../wording/item-statuses.ts";
import { useItemChange } from "./use-item-change.ts";

export function StatusChoice({ item }: { item: Item }) {
  const change = useItemChange(item);
  return (
    <div className="flex min-w-0 flex-1 flex-col gap-2">
      <ChoiceField
        label="Status"
        value={change.isPending ? (change.variables.status ?? item.status) : item.status}
        onChange={(status) => change.mutate({ status: status as ItemStatus })}
        options={ITEM_STATUSES.map((status) => ({ value: status, label: itemStatusLabel(status) }))}
      />
      {change.isError && <FailureNote title="The status was not changed" failure={change.error} />}
    </div>
  );
}
