/** Mistakes that a programmer might make, each against one promise that was not checked before. */
import type { PutBack } from "./put-back.ts";

export const PROMISE_MUTATIONS: readonly PutBack[] = [
  {
    name: "lost-stop-is-somebodys",
    fault: "A run that was stopped at a limit is called cancelled in its session, if the answer to its stop was lost.",
    edits: [
      {
        file: "src/model/live-run/ending.ts",
        old: "stopping: null, triedStop: attempt.verdict };",
        new: "stopping: null, triedStop: null };",
      },
    ],
  },
  {
    name: "one-run-too-many",
    fault: "A process does one run more at once than its limit allows.",
    edits: [
      {
        file: "src/engine/runs/slots.ts",
        old: "return this.#place(begin, this.#taken < this.#limit);",
        new: "return this.#place(begin, this.#taken <= this.#limit);",
      },
    ],
  },
  {
    name: "newest-follow-up-first",
    fault: "The follow-up that was queued last runs first.",
    edits: [
      {
        file: "src/store/board/follow-ups.ts",
        old: '.where("session_id", "=", sessionId).orderBy("number").limit(1);',
        new: '.where("session_id", "=", sessionId).orderBy("number", "desc").limit(1);',
      },
    ],
  },
  {
    name: "pause-ends-early",
    fault: "A run that waits for its provider goes on a minute before that is back.",
    edits: [
      {
        file: "src/model/live-run/pausing.ts",
        old: "if (at.wall < stage.until && at.awake < stage.dueAt) return unchanged(run);",
        new: "if (at.wall < stage.until - 60_000 && at.awake < stage.dueAt) return unchanged(run);",
      },
    ],
  },
  {
    name: "request-text-cut",
    fault: "People are shown the first words of what an agent asks.",
    edits: [
      {
        file: "src/model/live-run/phases.ts",
        old: 'const request: Waiting = { kind: "waiting", requestId, asks, text, at: at.wall };',
        new: 'const request: Waiting = { kind: "waiting", requestId, asks, text: text.slice(0, 10), at: at.wall };',
      },
    ],
  },
  {
    name: "given-up-as-interrupted",
    fault: "A run whose prompt did not arrive is called interrupted, although its process lives.",
    edits: [
      {
        file: "src/model/live-run/handover.ts",
        old: '"the prompt did not arrive in its session"',
        new: '"interrupted: the prompt did not arrive in its session"',
      },
    ],
  },
  {
    name: "failure-called-interruption",
    fault: "Whoever recovers a run that had failed by itself calls it interrupted.",
    edits: [
      {
        file: "src/engine/recovery/recovery.ts",
        old: "return endOf(judgeInterrupted(evidence, cancelRequestedAt !== null), { ...base, progress });",
        new: "return endOf(judgeInterrupted(evidence.error?.aborted ? evidence : { ...evidence, error: null }, cancelRequestedAt !== null), { ...base, progress });",
      },
    ],
  },
  {
    name: "deleted-parents-tasks-go-on",
    fault: "What a parent launched goes on when it is deleted.",
    edits: [
      {
        file: "src/engine/engine.ts",
        old: "    await this.clear(sessionId, PARENT_DELETED);\n",
        new: "",
      },
    ],
  },
  {
    name: "prompted-although-over",
    fault: "A run that was cancelled while its prompt was about to leave is prompted.",
    edits: [
      {
        file: "src/engine/runs/driven-run.ts",
        old: "return !this.#isStopped && !isOver(this.#live) && isWanted(this.#live);",
        new: "return !this.#isStopped;",
      },
    ],
  },
  {
    name: "persons-turn-adopted",
    fault: "A run whose prompt never arrived is taken over as at work, because a person works in its session.",
    edits: [
      {
        file: "src/engine/recovery/recovery.ts",
        old: "if (isBusy && evidence?.prompted) {",
        new: "if (isBusy && evidence !== null) {",
      },
    ],
  },
];
