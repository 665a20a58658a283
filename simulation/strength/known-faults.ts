/**
 * Faults that were in the product once, and that reviews, attacks and trials found. Each is put back into the present
 * code as it was in essence. Their fixes are in the history under "fix(engine)", "fix(store)" and "fix(hosts)".
 */
import type { OutOfReach, PutBack } from "./put-back.ts";

export const KNOWN_FAULTS: readonly PutBack[] = [
  {
    name: "refused-event-commits",
    fault: "A queued prompt is lost if somebody resumes the task meanwhile: the event is refused, the removal commits.",
    edits: [
      {
        file: "src/store/kysely-store.ts",
        old: "if (!outcome.changed) throw new RolledBack(outcome);",
        new: "",
      },
    ],
  },
  {
    name: "retry-with-new-id",
    fault: "A notice whose sending failed is sent again with a new message id: if the first arrives, it is told twice.",
    edits: [
      {
        file: "src/engine/notices/delivery.ts",
        old: 'const state = isRefusal(thrown) ? "pending" : "sending";',
        new: 'const state = "pending";',
      },
    ],
  },
  {
    name: "notice-given-up",
    fault: "A notice that could not be delivered eight times is dropped.",
    edits: [
      {
        file: "src/engine/notices/delivery.ts",
        old: "    const pause = pauseAfter(attempts, settings.noticeRetryMs);",
        new: `    if (attempts >= 8) {
      await this.#drop(parent, group);
      return null;
    }
    const pause = pauseAfter(attempts, settings.noticeRetryMs);`,
      },
    ],
  },
  {
    name: "failed-prompt-ends-run",
    fault: "Any failure of the call that sends a prompt ends the run as failed, also a timeout: its agent works on.",
    edits: [
      {
        file: "src/engine/runs/driven-run.ts",
        old: 'if (isRefusal(thrown)) return this.feed({ type: "prompt.refused", error });',
        new: 'return this.feed({ type: "prompt.refused", error });',
      },
    ],
  },
  {
    name: "instances-before-tasks",
    fault:
      "Recovery reads the instances before the tasks, and the store does not check: a process that starts and launches in between looks dead.",
    edits: [
      {
        file: "src/engine/recovery/orphans.ts",
        old: "  const [owners, ownerless] = [await store.owners(), await store.ownerless()];",
        new: `  const instances = await store.instances();
  const [owners, ownerless] = [await store.owners(), await store.ownerless()];`,
      },
      {
        file: "src/engine/recovery/orphans.ts",
        old: `  const launches = await allLaunches(store);
  const instances = await store.instances();`,
        new: "  const launches = await allLaunches(store);",
      },
      // Without this the store refuses to take anything from an owner that is registered.
      {
        file: "src/store/tasks/writes.ts",
        old: "owner === by || (await lockUnregistered(kysely, owner));",
        new: "owner === by || (await lockUnregistered(kysely, owner), true);",
      },
    ],
  },
  {
    name: "recovery-ignores-owner",
    fault: "Recovery ends a run without comparing its owner: one that another process has just adopted or resumed.",
    edits: [
      {
        file: "src/engine/recovery/recovery.ts",
        old: "await store.apply(task.id, this.#endOf(task, evidence), { owner, fence, by: instance.id });",
        new: "await store.apply(task.id, (void [owner, fence], this.#endOf(task, evidence)));",
      },
    ],
  },
  {
    name: "cancel-works-once",
    fault: "A cancel whose stop failed once is forgotten: nobody tries again, and later requests change nothing.",
    edits: [
      {
        file: "src/model/live-run/step.ts",
        old: '  if (run.cancelReason !== null) return stop(run, { outcome: "cancelled", reason: run.cancelReason }, at);\n',
        new: "",
      },
      {
        file: "src/model/transition.ts",
        old: "      return changed({ ...task, cancelRequestedAt: event.at });",
        new: `      if (task.cancelRequestedAt !== null) return refused(task, "no_change");
      return changed({ ...task, cancelRequestedAt: event.at });`,
      },
    ],
  },
  {
    name: "poll-reads-no-requests",
    fault: "What an agent asks stays unknown if the event about it is lost: nobody can answer it.",
    edits: [
      {
        file: "src/engine/runs/driver.ts",
        old: "if (open) this.#reconcile(open, known);",
        new: "void [open, known];",
      },
    ],
  },
  {
    name: "wall-clock-as-stopwatch",
    fault: "Durations are measured with the wall clock: a clock that is set forward ends runs for their time limit.",
    edits: [
      {
        file: "src/engine/runs/driven-run.ts",
        old: "return { awake: monotonic(), wall: now() };",
        new: "void monotonic;\n  return { awake: now(), wall: now() };",
      },
    ],
  },
  {
    name: "polls-by-wall-clock",
    fault: "The next poll is timed with the wall clock: one that is set back stops the polling for that long.",
    edits: [
      {
        file: "src/engine/create-engine.ts",
        old: "    monotonic,\n    after,\n    newId,",
        new: "    monotonic: now,\n    after,\n    newId,",
      },
    ],
  },
  {
    name: "containers-judged-by-pid",
    fault: "A process of another container is looked up by its pid here, found missing, and its tasks are ended.",
    edits: [
      {
        file: "src/process/liveness.ts",
        old: 'return (boot === "" || boot === bootId()) && (namespace === "" || namespace === pidNamespace());',
        new: 'void namespace;\n  return boot === "" || boot === bootId();',
      },
    ],
  },
  {
    name: "declared-dead-stays-away",
    fault: "A process that was declared dead by mistake does not register again: whatever it launches is ended.",
    edits: [
      {
        file: "src/engine/recovery/heartbeat.ts",
        old: "        await store.addInstance({ ...instance, beat }, leaseMs);\n",
        new: "",
      },
    ],
  },
  {
    name: "foreign-parents-dropped",
    fault: "An engine of another host takes a parent that it does not know, and drops its notices as undeliverable.",
    edits: [
      {
        file: "src/engine/notices/outbox.ts",
        old: "if (parent !== null && (parent.host ?? host.kind) !== host.kind) return;",
        new: "",
      },
      {
        file: "src/engine/notices/delivery.ts",
        old: "if (knowsNot && isMine) {",
        new: "void isMine;\n    if (knowsNot) {",
      },
    ],
  },
  {
    name: "wait-leaks-listener",
    fault: "A wait that fails because the store does leaves its listener behind for ever.",
    edits: [
      {
        file: "src/engine/watching/waiter.ts",
        old: `        if (done) return;
        close();
        reject(thrown);`,
        new: `        if (done) return;
        done = true;
        reject(thrown);`,
      },
    ],
  },
];

export const OUT_OF_REACH: readonly OutOfReach[] = [
  {
    name: "shared-port",
    fault: "Two servers bind one port, and the kernel deals requests out between them.",
    why: "There are no sockets in the simulation.",
    testedBy: "test/http/server.test.ts",
  },
  {
    name: "wedged-claude-session",
    fault: "One failed write of the ledger wedges a Claude session.",
    why: "The ledger belongs to the Claude host, which needs the real program; the simulation has its own host.",
    testedBy: "test/hosts/claude/ledger.test.ts",
  },
  {
    name: "boot-time-of-macos",
    fault: "On macOS the boot id changes with the clock, and the start of a process with the time zone.",
    why: "The simulated machine has one boot; the texts come from commands of macOS.",
    testedBy: "test/process/liveness.test.ts",
  },
  {
    name: "cost-limit-of-claude",
    fault: "A cost limit cannot stop Claude before its run is over.",
    why: "The limit is enforced by the Claude program itself.",
    testedBy: "test/hosts/claude/claude-host.test.ts",
  },
  {
    name: "transcripts-in-memory",
    fault: "Transcripts of ended runs stay in memory.",
    why: "They are kept by the Claude host.",
    testedBy: "test/hosts/claude/transcript.test.ts",
  },
  {
    name: "request-id-given-back",
    fault: "A request id is given back although the call had effects.",
    why: "The simulation calls the operations behind the place where request ids are kept.",
    testedBy: "test/board/operations.test.ts",
  },
  {
    name: "begun-by-the-unregistered",
    fault: "An engine that others have ended begins a run, which they take for an orphan at once.",
    why: "Others end a runner's own instance, and with it its claims, a moment after those of its engines: too soon to meet.",
    testedBy: "src/testing/conformance/store/queue.ts",
  },
];
