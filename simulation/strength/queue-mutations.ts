/** Mistakes that a programmer might make in the queue of runs, in its runners, and in calls between processes. */
import type { PutBack } from "./put-back.ts";

export const QUEUE_MUTATIONS: readonly PutBack[] = [
  {
    name: "begun-without-fence",
    fault: "A runner that lost its claim begins the run, although another one has claimed it.",
    edits: [
      {
        file: "src/store/queue/claims.ts",
        old: `    held(kysely, taskId, fence)
      .set({ state: "begun", claimed_until: null })`,
        new: `    kysely
      .updateTable("queued_runs")
      .where("task_id", "=", taskId)
      .where("state", "=", "claimed")
      .where("fence", ">=", fence)
      .set({ state: "begun", claimed_until: null })`,
      },
    ],
  },
  {
    name: "extended-without-fence",
    fault: "A runner that lost its claim extends that of another one.",
    edits: [
      {
        file: "src/store/queue/claims.ts",
        old: '  const rows = await held(kysely, taskId, fence).set({ claimed_until: until }).returning("task_id").execute();\n',
        new: `  const rows = await kysely
    .updateTable("queued_runs")
    .where("task_id", "=", taskId)
    .where("state", "=", "claimed")
    .where("fence", ">=", fence)
    .set({ claimed_until: until })
    .returning("task_id")
    .execute();
`,
      },
    ],
  },
  {
    name: "given-back-without-fence",
    fault: "A runner that lost its claim gives back that of another one.",
    edits: [
      {
        file: "src/store/queue/claims.ts",
        old: `  const rows = await held(kysely, taskId, fence)
    .set({ state: "waiting",`,
        new: `  const rows = await kysely
    .updateTable("queued_runs")
    .where("task_id", "=", taskId)
    .where("state", "=", "claimed")
    .where("fence", ">=", fence)
    .set({ state: "waiting",`,
      },
    ],
  },
  {
    name: "begun-after-its-claim",
    fault: "A claim that ran out and was put back can still begin the run, which waits in its line.",
    edits: [
      {
        file: "src/store/queue/claims.ts",
        old: '    .where("fence", "=", fence)\n    .where("state", "=", "claimed");\n',
        new: '    .where("fence", "=", fence);\n',
      },
    ],
  },
  {
    name: "claims-never-run-out",
    fault: "A run whose runner died before it began waits for ever.",
    edits: [
      {
        file: "src/store/queue/claims.ts",
        old: "  if (found.length === 0) return false;\n",
        new: "  if (found.length >= 0) return false;\n",
      },
    ],
  },
  {
    name: "only-begun-runs-counted",
    fault: "Runs that are claimed and have not begun do not count for the limits.",
    edits: [
      {
        file: "src/store/queue/claims.ts",
        old: '.where("state", "in", ["claimed", "begun"])',
        new: '.where("state", "=", "begun")',
      },
    ],
  },
  {
    name: "claims-not-put-back",
    fault: "A claim that ran out makes room for another run, and can still begin its own.",
    edits: [
      {
        file: "src/store/queue/claims.ts",
        old: "const expired = isLimited ? stored.map(({ line }) => line) : [...served.keys()];",
        new: "const expired = [...served.keys()];",
      },
      {
        file: "src/store/queue/claims.ts",
        old: "isLimited ? await atWork(kysely, stored) : []",
        new: "isLimited ? await atWork(kysely, stored, request.at) : []",
      },
      {
        file: "src/store/queue/claims.ts",
        old: "lines: readonly StoredLine[]): Promise<[StoredLine, number][]> {",
        new: "lines: readonly StoredLine[], at: number): Promise<[StoredLine, number][]> {",
      },
      {
        file: "src/store/queue/claims.ts",
        old: '    .where("state", "in", ["claimed", "begun"])\n    .groupBy("line")',
        new: `    .where("state", "in", ["claimed", "begun"])
    .where((row) => row.or([row("state", "=", "begun"), row("claimed_until", ">=", databaseTime("sqlite", at))]))
    .groupBy("line")`,
      },
    ],
  },
  {
    name: "labels-not-compared",
    fault: "A runner gets runs whose labels it does not have.",
    edits: [
      {
        file: "src/store/queue/claims.ts",
        old: "line.labels.every((label) => labels.includes(label))",
        new: "line.labels.length >= 0 && labels !== undefined",
      },
    ],
  },
  {
    name: "machine-not-compared",
    fault: "A runner gets runs whose folder is on another machine.",
    edits: [
      {
        file: "src/store/queue/claims.ts",
        old: "const isHere = line.machine === null || line.machine === machine;",
        new: "const isHere = line.machine === null || machine !== null;",
      },
    ],
  },
  {
    name: "retries-not-counted",
    fault: "A run that goes back to the queue keeps its retries: it starts again without end.",
    edits: [
      {
        file: "src/store/queue/queued-runs.ts",
        old: 'retries: row("retries", "-", 1)',
        new: 'retries: row("retries", "-", 0)',
      },
    ],
  },
  {
    name: "retried-although-cancelled",
    fault: "A run that is to be cancelled starts again when its machine dies.",
    edits: [
      {
        file: "src/model/retry.ts",
        old: "task.run.number !== 0 || task.cancelRequestedAt !== null) return null;",
        new: "task.run.number !== 0) return null;",
      },
      {
        file: "src/engine/recovery/recovery.ts",
        old: "judgeInterrupted(evidence, cancelRequestedAt !== null)",
        new: "judgeInterrupted(evidence, cancelRequestedAt === 0)",
      },
      {
        file: "src/engine/recovery/orphan-sweep.ts",
        old: "judgeInterrupted(noEvidence(false), cancelRequestedAt !== null)",
        new: "judgeInterrupted(noEvidence(false), cancelRequestedAt === 0)",
      },
    ],
  },
  {
    name: "every-failure-retried",
    fault: "A run starts again after any error, not only after an interruption.",
    edits: [
      {
        file: "src/model/retry.ts",
        old: 'if (event.type !== "run.failed" || !isInterruption(event.error)) return null;',
        new: 'if (event.type !== "run.failed" || isInterruption(null)) return null;',
      },
    ],
  },
  {
    name: "interruptions-not-retried",
    fault: "A run with retries left ends as interrupted.",
    edits: [
      {
        file: "src/store/queue/queued-task-writes.ts",
        old: "      event = retryInstead(task, given, retries) ?? given;\n",
        new: "      event = retryInstead(task, given, retries - 1) ?? given;\n",
      },
    ],
  },
  {
    name: "ended-runs-stay-queued",
    fault: "A run that ends keeps its place in the queue, and counts for the limits for ever.",
    edits: [
      {
        file: "src/store/queue/queued-task-writes.ts",
        old: "    await removeQueuedRun(kysely, lines, id);\n",
        new: "    void removeQueuedRun;\n",
      },
    ],
  },
  {
    name: "queued-runs-as-orphans",
    fault: "A task that waits for a runner is taken for one whose process died.",
    edits: [
      {
        file: "src/store/tasks/owners.ts",
        old: "tasks.live = 1 and tasks.owner is null and tasks.session_id <> ''",
        new: "tasks.live = 1 and tasks.owner is null",
      },
    ],
  },
  {
    name: "cancel-of-queued-not-stored",
    fault: "Somebody is told that a waiting task is cancelled, and it runs.",
    edits: [
      {
        file: "src/engine/queue/cancel-queued.ts",
        old: `    return transaction.apply(id, { type: "run.cancelled", at: now(), run: run.number, reason, progress: null });
  });
  return cancelled?.changed ? cancelled.task : null;`,
        new: `    return { changed: true, task: { ...task, status: "cancelled" as const }, notice: null };
  });
  void [now, reason];
  return cancelled?.changed ? cancelled.task : null;`,
      },
    ],
  },
  {
    name: "claims-begun-by-task",
    fault: "A runner that claims a run again, because its claim ran out on the way, loses count of it.",
    edits: [
      {
        file: "src/engine/queue/claimer.ts",
        old: "        this.#beginning.delete(run);\n",
        new: "        for (const each of this.#beginning) if (each.taskId === run.taskId) this.#beginning.delete(each);\n",
      },
    ],
  },
  {
    name: "full-runner-claims",
    fault: "A runner does not count what it is about to begin, and claims more than it may do.",
    edits: [
      {
        file: "src/engine/queue/claimer.ts",
        old: "return driven + this.#beginning.size;",
        new: "return driven;",
      },
    ],
  },
  {
    name: "failed-claim-unfenced",
    fault: "A runner that lost its claim ends the run because it could not begin it.",
    edits: [
      {
        file: "src/engine/queue/claimer.ts",
        old: "    await transaction.begin({ taskId, fence });\n    return transaction.apply(taskId, event);\n",
        new: "    void fence;\n    return transaction.apply(taskId, event);\n",
      },
    ],
  },
  {
    name: "begun-call-called-undone",
    fault: "A caller is told that nothing was done, although the other process had begun.",
    edits: [
      {
        file: "src/engine/remote/remote-calls.ts",
        old: 'if (progress?.state === "asked" || (',
        new: 'if (progress?.state !== "answered" || (',
      },
    ],
  },
  {
    name: "withdrawn-call-performed",
    fault: "A call that its caller withdrew is performed all the same.",
    edits: [
      {
        file: "src/engine/remote/call-performer.ts",
        old: "if (!(await store.calls.claim(id, now()))) return;",
        new: "if ((await store.calls.claim(id, now())) === null) return;",
      },
    ],
  },
  {
    name: "successors-not-judged",
    fault: "A task that starts after others is not started when the last of them ends.",
    edits: [
      {
        file: "src/store/queue/queued-task-writes.ts",
        old: "if (concernsSuccessors(event)) await",
        new: 'if (concernsSuccessors(event) && task.status !== "completed") await',
      },
    ],
  },
  {
    name: "first-end-starts",
    fault: "A task that starts after several others starts when one of them has ended.",
    edits: [
      {
        file: "src/model/after.ts",
        old: "known.some(({ status }) => isLive(status))",
        new: "known.every(({ status }) => isLive(status))",
      },
    ],
  },
];
