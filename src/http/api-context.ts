/** What the handlers of the status API are given: the rules of this process, the other servers, the clock, the log. */
import type { Desk } from "../engine/desk.ts";
import type { Overview } from "../engine/watching/overview.ts";
import type { Trouble } from "../engine/watching/troubles.ts";
import type { Log } from "../process/log.ts";
import type { CallOperation } from "../protocol/operations.ts";
import type { Guard } from "./guard.ts";
import type { Peers } from "./peers.ts";

export interface ApiContext {
  overview: Overview;
  desk: Desk;
  peers: Peers;
  guard: Guard;
  log: Log;
  token: string;
  version: string;
  startedAt: number;
  now(): number;
  /** Performs the board's operations; null where this process has no board. */
  board: CallOperation | null;
  /** Answers at /mcp; null where nothing is there. */
  mcp: ((request: Request) => Promise<Response>) | null;
  /** How deep agents may launch agents; undefined for the default. */
  maxDepth: number | undefined;
  /** What keeps the data folder from working. */
  troubles(): Trouble[];
  /** Opens the event stream. */
  stream(request: Request): Promise<Response>;
}
