/** What the handlers of the status API get: the rules of this process, other processes, the clock, and the log. */
import type { AssertRepo, AssertWorkplace } from "../board/board.ts";
import type { RemoteOperations } from "../board/remote-operations.ts";
import type { TaskWorktrees } from "../board/worktrees/task-worktrees.ts";
import type { AuditLog } from "../engine/access/audit-log.ts";
import type { Desk } from "../engine/desk.ts";
import type { Notifier } from "../engine/notifications/notifier.ts";
import type { Overview } from "../engine/watching/overview.ts";
import type { Trouble } from "../engine/watching/troubles.ts";
import type { Log } from "../process/log.ts";
import type { CallOperation } from "../protocol/operations.ts";
import type { Caller, Guard } from "./access/guard.ts";
import type { StreamRequest } from "./events/event-streams.ts";

/** What those handlers need that also run for calls of other processes. */
export interface OperationContext {
  overview: Overview;
  desk: Desk;
  /** What only other processes can do. */
  remote: RemoteOperations;
  /** For tasks that are launched with a worktree of their own; absent if this process knows of none. */
  taskWorktrees?: TaskWorktrees | null;
  /** Performs the board's operations; null if this process has no board. */
  board: CallOperation | null;
  /** Null if this process has no board. */
  assertWorkplace: AssertWorkplace | null;
  /** Null if this process has no board. */
  assertRepo: AssertRepo | null;
  /** How deeply agents may launch agents; undefined for the default. */
  maxDepth: number | undefined;
}

export interface ApiContext extends OperationContext {
  guard: Guard;
  /** Records who changes what. */
  audit: AuditLog;
  log: Log;
  token: string;
  version: string;
  startedAt: number;
  now(): number;
  /** Answers requests to /mcp; null if this process serves no MCP. */
  mcp: ((request: Request, caller: Caller) => Promise<Response>) | null;
  /** Tells people outside; null if this process does not. */
  notifier: Notifier | null;
  /** What a person has to see to, such as a full disk. */
  troubles(): Promise<Trouble[]>;
  /** Opens the event stream. */
  stream(opened: StreamRequest): Promise<Response>;
}
