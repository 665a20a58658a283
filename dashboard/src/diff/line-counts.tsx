/**
 * The numbers of lines added and removed, with signs.
 */
import { countText } from "../wording/amounts.ts";

export function LineCounts({ insertions, deletions }: { insertions: number; deletions: number }) {
  return (
    <span className="inline-flex gap-1.5 font-mono text-xs whitespace-nowrap">
      <span className="text-[var(--added)]">+{countText(insertions)}</span>
      <span className="text-[var(--removed)]">−{countText(deletions)}</span>
    </span>
  );
}
