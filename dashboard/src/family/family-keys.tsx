/**
 * Makes the keys for a task's relations work on a page, and says when there is nowhere to go.
 */
import { useFamilyKeys } from "./use-family-keys.ts";

export function FamilyKeys(place: Parameters<typeof useFamilyKeys>[0]) {
  const told = useFamilyKeys(place);
  return (
    <p
      role="status"
      className={
        told === ""
          ? "sr-only"
          : "fixed bottom-4 left-1/2 z-40 -translate-x-1/2 rounded-lg border border-strong-line bg-surface px-4 py-2 shadow-xl"
      }
    >
      {told}
    </p>
  );
}
