/**
 * One call of an operation as its handler sees it: the caller, the abort signal, and whether the call has had
 * effects.
 */
import type { CallOrigin } from "../protocol/call-origin.ts";

export interface BoardCall {
  operation: string;
  origin: CallOrigin;
  signal?: AbortSignal | undefined;
  /** From here on the call has made changes that a failure does not undo. */
  hadEffects(): void;
}
