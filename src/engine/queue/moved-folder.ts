/**
 * Whether the folder of a queued run is still the one that it was queued for. What may be done there was checked then,
 * for its real path; whoever can write around it may have put a link in its place since. No state.
 */
import { realpathSync } from "node:fs";
import { AsyncAgentsError } from "../../model/errors.ts";

/** Null if there is no such folder. */
export function realFolder(directory: string): string | null {
  try {
    return realpathSync(directory);
  } catch {
    return null;
  }
}

/** Rejects a folder that leads elsewhere now. One that is gone is left to whoever opens it. */
export function assertNotMoved(directory: string, real: string | null = directory): void {
  const now = realFolder(directory);
  if (now !== null && now !== real) throw moved(directory);
}

export function moved(directory: string): AsyncAgentsError {
  const message = `${directory} leads somewhere else now than when this was queued: a link took its place. Nothing was started. Launch it again where it should work.`;
  return new AsyncAgentsError("not_allowed", message, { details: { directory } });
}
