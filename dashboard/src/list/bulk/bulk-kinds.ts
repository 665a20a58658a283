/**
 * What can be done to all tasks that match: cancel those at work, launch again those that failed or were cancelled, or
 * export any. Each has its words and its limit.
 */

import type { OperationName } from "../../../../src/protocol/operations.ts";
import type { BackgroundTaskStatus } from "../../../../src/protocol/tasks.ts";
import type { Filters } from "../../routing/filters.ts";
import { control, readingClient } from "../../server/page-client.ts";
import { TASK_STATUSES } from "../../wording/statuses.ts";

export type BulkKind = "cancel" | "retry" | "export";

interface KindTraits {
  /** The button's label, and what it says while it goes on and when it is over. */
  words: { act: string; acting: string; acted: string };
  /** What becomes of the tasks. */
  meaning: string;
  /** Which tasks it can be done to. */
  statuses: readonly BackgroundTaskStatus[];
  /** What a token must be allowed to do. */
  operation: OperationName;
  /** How many at once. */
  most: number;
}

export const BULK_KINDS: Record<BulkKind, KindTraits> = {
  cancel: {
    words: { act: "Cancel", acting: "Cancelling", acted: "cancelled" },
    meaning: "They stop where they are. What they have done so far stays, and their parents are told.",
    statuses: ["running", "resumed"],
    operation: "cancel",
    most: 500,
  },
  retry: {
    words: { act: "Retry", acting: "Retrying", acted: "launched again" },
    meaning: "Each is launched again as a new task, with the same prompt, agent and folder. The old ones stay.",
    statuses: ["error", "cancelled"],
    operation: "launch",
    most: 200,
  },
  export: {
    words: { act: "Export", acting: "Exporting", acted: "exported" },
    meaning: "One file with the prompt, result, error and figures of each task, without its conversation.",
    statuses: TASK_STATUSES,
    operation: "selection",
    most: 2000,
  },
};

/** The statuses of the filter to which it can be done. */
export function statusesFor({ statuses }: Filters, kind: BulkKind): Filters["statuses"] {
  const { statuses: able } = BULK_KINDS[kind];
  return statuses.length === 0 ? able : able.filter((status) => statuses.includes(status));
}

export function cancelTask(id: string): Promise<unknown> {
  return control((client) => client.cancel(id));
}

export async function launchAgain(id: string): Promise<unknown> {
  const { prompt, description, agent, host, directory } = await readingClient.task(id);
  const chosen = { ...(agent !== "" && { agent }) };
  return control((client) => client.launch({ prompt, description, host, directory, ...chosen }));
}
