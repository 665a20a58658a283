/** One call of an operation as its handler sees it: who makes it, when it is given up, and whether it has had effects. */
import type { CallOrigin } from "../protocol/call-origin.ts";

export interface BoardCall {
  operation: string;
  origin: CallOrigin;
  signal?: AbortSignal | undefined;
  /** From here on the call has changed something that a failure does not take back. */
  hadEffects(): void;
}
