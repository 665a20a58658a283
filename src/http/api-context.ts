/** What the handlers of the status API get: the rules of this process, the other servers, the clock, and the log. */
import type { AssertWorkplace } from "../board/board.ts";
import type { AuditLog } from "../engine/access/audit-log.ts";
import type { Desk } from "../engine/desk.ts";
import type { Overview } from "../engine/watching/overview.ts";
import type { Trouble } from "../engine/watching/troubles.ts";
import type { Log } from "../process/log.ts";
import type { CallOperation } from "../protocol/operations.ts";
import type { Caller, Guard } from "./access/guard.ts";
import type { Peers } from "./peers.ts";

export interface ApiContext {
  overview: Overview;
  desk: Desk;
  peers: Peers;
  guard: Guard;
  /** Records who changes what. */
  audit: AuditLog;
  log: Log;
  token: string;
  version: string;
  startedAt: number;
  now(): number;
  /** Performs the board's operations; null if this process has no board. */
  board: CallOperation | null;
  /** Null if this process has no board. */
  assertWorkplace: AssertWorkplace | null;
  /** Answers requests to /mcp; null if this process serves no MCP. */
  mcp: ((request: Request, caller: Caller) => Promise<Response>) | null;
  /** How deeply agents may launch agents; undefined for the default. */
  maxDepth: number | undefined;
  /** Problems with the data folder, such as a full disk. */
  troubles(): Trouble[];
  /** Opens the event stream. */
  stream(request: Request, caller: Caller): Promise<Response>;
}
