/**
 * Budgets as the store keeps them. What tasks use is counted in the transactions of their events; here is what else is
 * done with budgets. No behaviour.
 */
import type { Budget, BudgetLimits } from "../../model/budgets/budget.ts";
import type { Chain, RequestVerdict } from "../../model/budgets/chain.ts";
import type { StoppedTask } from "../../model/inbox.ts";

/** Which budgets to read. All given fields must match. */
export interface BudgetQuery {
  /** Those that the task counts in, nearest first. */
  taskId?: string;
  /** Only those with live tasks. */
  inUse?: boolean;
  /** Only those that were used up since then, and are still. */
  usedUpAfter?: number;
  /** At most 200; default 50. */
  limit?: number;
}

export interface BudgetChange {
  limits: Partial<BudgetLimits>;
  /** Who changes it. */
  by: string;
  at: number;
  /** Rejects what would allow more than now. */
  mayRaise: boolean;
}

export interface BudgetRecords {
  get(id: string): Promise<Budget | null>;
  /** Newest setting first. */
  list(query: BudgetQuery): Promise<Budget[]>;
  /** The tasks whose newest run one of these budgets stopped when it was used up, newest first; at most 500. */
  stopped(ids: readonly string[]): Promise<StoppedTask[]>;
  /** The budgets that each of these tasks counts in, nearest first; those that count in none are left out. */
  chains(taskIds: readonly string[]): Promise<Map<string, Chain>>;
  /**
   * Sets limits; those that are not given stay. A new budget counts what was used below it so far. Rejects a task, a
   * batch or a session that nothing is known of, and what would leave less than is reserved.
   */
  set(id: string, change: BudgetChange): Promise<Budget>;
  /**
   * Whether a live task may begin its next request to a model. If it may, the request counts as flying until what the
   * task used is stored, or it ends. `disregarded`: how many requests of others it does not wait for any more; 0 when
   * absent.
   */
  openRequest(taskId: string, disregarded?: number): Promise<RequestVerdict>;
}
