/** The queue on the store's database: combines the claims and the lines. Contains no SQL. */
import type { Kysely } from "kysely";
import type { Transition } from "../../model/transition.ts";
import type { TaskChange } from "../batching/task-change.ts";
import type { Schema } from "../schema.ts";
import { claimRuns, extendClaim, type QueueTables, releaseClaim } from "./claims.ts";
import { addLine, lineOf } from "./queued-runs.ts";
import type { RunClaim, RunQueue } from "./run-queue.ts";

type Write = <T>(work: (kysely: Kysely<Schema>) => Promise<T>) => Promise<T>;

export function kyselyQueue(
  tables: QueueTables,
  write: Write,
  apply: (change: TaskChange) => Promise<Transition>,
): RunQueue {
  const { dialect, lines } = tables;
  const known = new Set<string>();
  return {
    async open(needs) {
      const line = lineOf(needs);
      if (known.has(line)) return;
      await lines.open(line);
      await write((kysely) => addLine(kysely, needs));
      known.add(line);
    },
    enqueue: (queued, event) => apply({ id: queued.taskId, event, queued }),
    begin: ({ taskId: id, fence }, event) => apply({ id, event, claim: { taskId: id, fence } }),
    claim: (request) => write((kysely) => claimRuns(kysely, tables, request)),
    extend: (claims, lease) =>
      write(async (kysely) => {
        const lost: RunClaim[] = [];
        for (const claim of claims) if (!(await extendClaim(kysely, dialect, claim, lease))) lost.push(claim);
        return lost;
      }),
    release: (claim) => write((kysely) => releaseClaim(kysely, lines, claim)),
  };
}
