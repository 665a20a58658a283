/** Mistakes that a programmer might make in what drives runs and obeys commands, each of which breaks a promise. */
import type { PutBack } from "./put-back.ts";

export const RUN_MUTATIONS: readonly PutBack[] = [
  {
    name: "times-of-the-real-clock",
    fault: "The times of a run are those of the machine's own clock, and not of the one that is passed in.",
    edits: [
      {
        file: "src/engine/runs/driven-run.ts",
        old: "return { awake: monotonic(), wall: now() };",
        new: "return { awake: monotonic(), wall: new Date().getTime() + 0 * now() };",
      },
    ],
  },
  {
    name: "end-before-stop",
    fault: "A cancelled run is called over without stopping its agent.",
    edits: [
      {
        file: "src/model/live-run/ending.ts",
        old: "if (!isPrompted(run)) return end(stopping, verdict, progressOf(run, at), at);",
        new: "if (run !== null) return end(stopping, verdict, progressOf(run, at), at);",
      },
    ],
  },
  {
    name: "no-time-to-begin",
    fault: "An agent that has accepted a prompt and not begun is called idle at once.",
    edits: [{ file: "src/model/live-run/settling.ts", old: "BEGIN_MS = 20_000", new: "BEGIN_MS = 0" }],
  },
  {
    name: "answer-without-work",
    fault: "A turn that ended without text or a tool call counts as completed.",
    edits: [
      {
        file: "src/model/evidence.ts",
        old: "if (evidence.answer && evidence.worked)",
        new: "if (evidence.answer)",
      },
    ],
  },
  {
    name: "first-idle-believed",
    fault: "One status call that does not list a session ends its run, although its messages show no end.",
    edits: [
      {
        file: "src/model/live-run/settling.ts",
        old: "!(isNewer && (isAnnounced || isIdle))) {",
        new: "!isNewer) {",
      },
    ],
  },
  {
    name: "prompt-sent-again",
    fault: "A prompt that is not found in its session is sent again, although it may still arrive.",
    edits: [
      {
        file: "src/model/live-run/handover.ts",
        old: '  if (found === "there") return accept(run, at);',
        new: '  if (found === "there") return accept(run, at);\n  if (found === "absent") return prompt(run);',
      },
    ],
  },
  {
    name: "late-prompt-not-expected",
    fault: "A prompt that was given up and arrives later is worked on.",
    edits: [
      {
        file: "src/model/live-run/handover.ts",
        old: 'effects: [{ type: "abandon" }, { type: "abort", purpose: { name: "abandon" } }],',
        new: 'effects: [{ type: "abort", purpose: { name: "abandon" } }],',
      },
    ],
  },
  {
    name: "late-acceptance-ignored",
    fault: "A prompt that was on its way when its run ended is worked on.",
    edits: [
      {
        file: "src/model/live-run/step.ts",
        old: 'if (input.type === "prompt.accepted") return promptedTooLate(run, true);',
        new: 'if (input.type === "prompt.accepted") return unchanged(run);',
      },
    ],
  },
  {
    name: "end-written-once",
    fault: "An end that could not be written is not written again.",
    edits: [
      {
        file: "src/model/live-run/ending.ts",
        old: "  return { run: { ...run, ending: { ...run.ending, isWriting: false } }, effects: [POLL_LATER] };",
        new: "  return { run, effects: [POLL_LATER] };",
      },
    ],
  },
  {
    name: "lost-run-works-on",
    fault: "A process that lost a run to another one lets its own agent work on.",
    edits: [
      {
        file: "src/model/live-run/ending.ts",
        old: 'const isAtWork = isDoubtful || (why === "lost" && isPrompted(run) && !isResting(run));',
        new: "const isAtWork = isDoubtful;",
      },
    ],
  },
  {
    name: "loss-not-noticed",
    fault: "A process does not notice that a run is not its own any more: not from the feed, nor from refused writes.",
    edits: [
      {
        file: "src/engine/runs/driven-run.ts",
        old: 'if (!isOurs) this.tell({ type: "lose" });',
        new: "if (!isOurs) return;",
      },
      {
        file: "src/model/live-run/ending.ts",
        old: 'if (!outcome.changed && outcome.reason !== "no_change") return lose(run);',
        new: 'if (!outcome.changed && outcome.reason !== "no_change") return unchanged(run);',
      },
    ],
  },
  {
    name: "poll-ends-with-a-failure",
    fault: "After a status call that failed there are no more polls.",
    edits: [
      {
        file: "src/engine/runs/driver.ts",
        old: `      this.#logFailure("the status call failed; the next poll tries again", thrown);`,
        new: `      this.#logFailure("the status call failed; the next poll tries again", thrown);
      return;`,
      },
    ],
  },
  {
    name: "poll-asks-no-status",
    fault: "Polls do not ask what the sessions do: the end of a run whose event is lost stays unknown.",
    edits: [
      {
        file: "src/engine/runs/driver.ts",
        old: "      await Promise.all([...this.#runs.values()].map(read));",
        new: "      void read;",
      },
    ],
  },
  {
    name: "one-try-to-stop",
    fault: "Work without a run is tried to be stopped only once.",
    edits: [{ file: "src/engine/runs/leftovers.ts", old: "const TRIES = 1_440;", new: "const TRIES = 1;" }],
  },
  {
    name: "stop-hits-next-run",
    fault: "The stop of work without a run does not wait while the session has a run that is wanted.",
    edits: [
      {
        file: "src/engine/runs/driver.ts",
        old: 'return run !== undefined && run.live.stage.name !== "unstarted" && isWanted(run.live);',
        new: "return run === null;",
      },
    ],
  },
  {
    name: "polls-of-one-host",
    fault: "Polls ask only OpenCode what its sessions do: elsewhere, an end whose event is lost stays unknown.",
    edits: [
      {
        file: "src/engine/runs/driver.ts",
        old: "      const statuses = await host.statuses();",
        new: '      const statuses = host.kind === "opencode" ? await host.statuses() : await Promise.reject(host.kind);',
      },
    ],
  },
  {
    name: "denial-without-work",
    fault: "A run that stopped at a denied call before it had done anything is said to have ended without output.",
    edits: [
      {
        file: "src/model/evidence.ts",
        old: "if (evidence.stoppedAt) {",
        new: "if (evidence.stoppedAt && evidence.worked) {",
      },
    ],
  },
  {
    name: "short-search",
    fault: "A prompt in doubt is given up after a quarter of its time.",
    edits: [{ file: "src/model/live-run/handover.ts", old: "DOUBT_MS = 60_000", new: "DOUBT_MS = 15_000" }],
  },
  {
    name: "waiting-counts-as-work",
    fault: "The time in which a run waits for people counts for its time limit.",
    edits: [
      {
        file: "src/model/live-run/activity.ts",
        old: "return { ...activity, workingSince: workingSince + awake - Math.max(askedAt, workingSince) };",
        new: "return { ...activity, workingSince: workingSince + 0 * (awake - askedAt) };",
      },
    ],
  },
  {
    name: "events-before-the-prompt",
    fault: "What happens in a session before a run is prompted there counts as that run's.",
    edits: [
      {
        file: "src/model/live-run/step.ts",
        old: '  if (!isPrompted(run) || run.stage.name === "paused") return unchanged(run);\n  switch (input.type) {\n    case "session.idle"',
        new: '  switch (input.type) {\n    case "session.idle"',
      },
    ],
  },
  {
    name: "status-from-before-the-prompt",
    fault: "A status call that was made before the prompt was accepted counts.",
    edits: [
      {
        file: "src/model/live-run/step.ts",
        old: 'if (stage.name !== "working" || stage.acceptedAt >= askedAt)',
        new: 'if (stage.name !== "working")',
      },
    ],
  },
  {
    name: "run-of-somebody-else",
    fault: "After a failed write, any live run of the task counts as the one that was to be stored.",
    edits: [
      {
        file: "src/engine/launch.ts",
        old: "if (isStored && task.run.messageId === run.messageId) return",
        new: "if (isStored) return",
      },
      {
        file: "src/engine/launch.ts",
        old: "isLive(task.status) && task.owner === instance.id;\n      if (isStored",
        new: 'isLive(task.status) && instance.id !== "";\n      if (isStored',
      },
    ],
  },
];

export const COMMAND_MUTATIONS: readonly PutBack[] = [
  {
    name: "launch-kept-open",
    fault: "The record of a launch stays when its task is stored.",
    edits: [
      {
        file: "src/engine/launch.ts",
        old: "if (!(await transaction.closeLaunch(id, instance.id))) throw launchClosed();",
        new: "if (id === null) throw launchClosed();",
      },
    ],
  },
  {
    name: "dequeue-outside",
    fault: "A follow-up leaves the queue in a transaction of its own, before the one that begins its run.",
    edits: [
      {
        file: "src/engine/launch.ts",
        old: "    const messageId = host.newMessageId();\n    const resuming",
        new: `    const messageId = host.newMessageId();
    const isQueued =
      followUpId !== undefined && (await store.write((transaction) => transaction.dequeueFollowUp(followUpId)));
    const resuming`,
      },
      {
        file: "src/engine/launch.ts",
        old: "const isThere = await transaction.dequeueFollowUp(followUpId);",
        new: "const isThere = isQueued;",
      },
    ],
  },
  {
    name: "resume-with-old-id",
    fault: "A resume uses the message id of the run before.",
    edits: [
      {
        file: "src/engine/launch.ts",
        old: "    const messageId = host.newMessageId();\n    const resuming",
        new: "    const { messageId } = task.run;\n    const resuming",
      },
    ],
  },
  {
    name: "cancel-not-obeyed",
    fault: "A process does not act on another one's request to cancel a task.",
    edits: [
      {
        file: "src/engine/runs/driven-run.ts",
        old: "else if (task.cancelRequestedAt !== null && this.#live.stopping === null)",
        new: "else if (task.cancelRequestedAt === -1)",
      },
    ],
  },
  {
    name: "wait-without-first-look",
    fault: "A caller that waits for a task which has ended already waits until its time is over.",
    edits: [
      {
        file: "src/engine/watching/waiter.ts",
        old: "      if (options.signal?.aborted) abort();\n      look();",
        new: "      if (options.signal?.aborted) abort();",
      },
    ],
  },
  {
    name: "queue-not-woken",
    fault: "The queue of a session does not go on when a run has completed.",
    edits: [
      {
        file: "src/board/queue-pump.ts",
        old: 'new Set(["run.completed", "run.failed", "run.cancelled"])',
        new: 'new Set(["run.failed", "run.cancelled"])',
      },
    ],
  },
  {
    name: "old-queues-forgotten",
    fault: "After a restart, nobody looks at the queues that are there.",
    edits: [
      {
        file: "src/board/queue-pump.ts",
        old: "for (const sessionId of await this.#parts.store.board.queuedSessions()) this.wake(sessionId);",
        new: "await this.#parts.store.board.queuedSessions();",
      },
    ],
  },
  {
    name: "queue-gives-up",
    fault: "A follow-up that could not begin for a passing reason is not tried again.",
    edits: [
      {
        file: "src/board/queue-pump.ts",
        old: "if (TRANSIENT.has(code)) this.#retryLater(sessionId, () => this.#check(sessionId));",
        new: "void TRANSIENT;",
      },
    ],
  },
  {
    name: "one-run-for-two-callers",
    fault: "A resume that is refused because another one was faster is answered with that one's run.",
    edits: [
      {
        file: "src/engine/launch.ts",
        old: "      refuseResume(resumed.task ?? task, settings, request.allow);",
        new: "      if (resumed.task) return resumed.task;",
      },
    ],
  },
  {
    name: "cancel-all-forgets-resumed",
    fault: "A parent that cancels everything cancels only tasks in their first run.",
    edits: [
      {
        file: "src/engine/engine.ts",
        old: '      status: ["running", "resumed"],\n    });\n    return this.#canceller.cancelAll',
        new: '      status: ["running"],\n    });\n    return this.#canceller.cancelAll',
      },
    ],
  },
  {
    name: "queue-held-for-ever",
    fault: "A queue that is on hold does not go on when somebody adds to it.",
    edits: [
      {
        file: "src/model/board.ts",
        old: "return !isGood && afterRun !== run.number;",
        new: "return !isGood && afterRun !== -1;",
      },
    ],
  },
  {
    name: "queue-never-held",
    fault: "A queue goes on after a run that failed or was cancelled.",
    edits: [
      {
        file: "src/model/board.ts",
        old: "return !isGood && afterRun !== run.number;",
        new: "return !isGood && afterRun === -1;",
      },
    ],
  },
];
