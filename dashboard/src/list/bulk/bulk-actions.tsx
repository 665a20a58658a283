/**
 * The actions on everything that matches the filters. Each opens a dialog that says how many tasks it is about.
 */
import { useState } from "react";
import { Button } from "../../parts/button.tsx";
import type { Filters } from "../../routing/filters.ts";
import { Allowed } from "../../session/allowed.tsx";
import { BulkDialog } from "./bulk-dialog.tsx";
import { BULK_KINDS, type BulkKind, statusesFor } from "./bulk-kinds.ts";

const KINDS = Object.keys(BULK_KINDS) as BulkKind[];

export function BulkActions({ filters }: { filters: Filters }) {
  const [kind, setKind] = useState<BulkKind | null>(null);
  const possible = KINDS.filter((each) => statusesFor(filters, each).length > 0);
  return (
    <>
      {possible.map((each) => (
        <Allowed key={each} to={BULK_KINDS[each].operation}>
          <Button onClick={() => setKind(each)}>{BULK_KINDS[each].words.act} all…</Button>
        </Allowed>
      ))}
      {kind !== null && <BulkDialog kind={kind} filters={filters} onClose={() => setKind(null)} />}
    </>
  );
}
