/** The queue on the store's database: combines the claims and the lines. Contains no SQL. */
import type { Kysely } from "kysely";
import type { Transition } from "../../model/transition.ts";
import type { TaskChange } from "../batching/task-change.ts";
import type { Schema } from "../schema.ts";
import { claimRuns, extendClaim, type QueueTables, readAtWork, releaseClaim } from "./claims.ts";
import { addLine, lineOf, readFolders, readWaiting } from "./queued-runs.ts";
import type { RunClaim, RunQueue } from "./run-queue.ts";

/** How many lines are known to exist; a line that is not known costs a write. */
const MOST_KNOWN = 1_000;

type Run = <T>(work: (kysely: Kysely<Schema>) => Promise<T>) => Promise<T>;

interface QueueAccess {
  read: Run;
  write: Run;
  apply(change: TaskChange): Promise<Transition>;
}

export function kyselyQueue(tables: QueueTables, { read, write, apply }: QueueAccess): RunQueue {
  const { dialect, lines } = tables;
  const known = new Set<string>();
  return {
    async open(needs) {
      const line = lineOf(needs);
      if (known.has(line)) return;
      await lines.open(line);
      await write((kysely) => addLine(kysely, needs));
      if (known.size >= MOST_KNOWN) known.clear();
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
    release: (claim, trouble) => write((kysely) => releaseClaim(kysely, lines, claim, trouble)),
    waiting: (taskIds) => read((kysely) => readWaiting(kysely, taskIds)),
    folders: () => read(readFolders),
    atWork: () => read(readAtWork),
  };
}
