/**
 * Whether something has been the same for a moment. What a reader clicks on must not be replaced under the pointer: a
 * model or an agent chooses when a request appears.
 */
import { useEffect, useState } from "react";

/** Longer than it takes to notice a change and to stop a click; also longer than a double click. */
const SETTLE_MS = 1_000;

export function useSettled(key: string): boolean {
  const [settled, setSettled] = useState<string | null>(null);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(key), SETTLE_MS);
    return () => clearTimeout(timer);
  }, [key]);
  return settled === key;
}
