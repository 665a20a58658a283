/**
 * What a door asks before it does anything: who is calling, and may that caller come in at all? Two guards:
 * `local-guard.ts` for this machine, `token-guard.ts` for others. What a caller may do is decided by the role of its
 * token, in `src/board/roles.ts`. Each check throws if the caller is rejected.
 */
import type { CallOrigin } from "../../protocol/call-origin.ts";

export interface Caller {
  /** Null for the user of this machine, who may do everything. */
  token: NonNullable<CallOrigin["token"]> | null;
  /** True if the caller sent no token at the door to this machine, where programs of the same user may read. */
  isTokenless?: true;
  /** Whether the caller's token still works; for responses that stay open. Absent if it has none. */
  isWelcome?(): Promise<boolean>;
}

type Admitted = Caller | Promise<Caller>;

export interface Guard {
  /** For the dashboard's own files, which contain no data. */
  admitOrigin(request: Request): void;
  /** For what is open to everyone on this machine. */
  admitAnyone(request: Request): Admitted;
  /** For reading. */
  admit(request: Request): Admitted;
  /** For programs, and no other pages than the server's own. */
  admitProgram(request: Request): Admitted;
  /** For changes. */
  authorize(request: Request): Admitted;
  /** For the server's own page in a browser of its own user. */
  admitOwnPage(request: Request): void;
}
