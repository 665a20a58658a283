import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { TaskEvent } from "../../src/model/events.ts";
import { noProgress } from "../../src/model/progress.ts";
import { isLive, type Phase, type PhaseDetail, STATUSES, type Task } from "../../src/model/task.ts";
import { type Transition, transition } from "../../src/model/transition.ts";
import { anyTask, anyTaskEvent } from "../../src/testing/any-event.ts";
import { newTask } from "../../src/testing/sample-task.ts";

const ID = "task";
const RUNS = { numRuns: 1_000 };
const task = anyTask(ID);
const event = anyTaskEvent(ID);
const born = { type: "task.created", at: 1, task: newTask(ID) } as const;

/** Every step in the life of a task: the task before, the event, and the result. */
function live(events: TaskEvent[]): { before: Task | null; event: TaskEvent; outcome: Transition }[] {
  let current: Task | null = null;
  return events.map((each) => {
    const before = current;
    const outcome = transition(before, each);
    current = outcome.task;
    return { before, event: each, outcome };
  });
}

const lives = fc.array(event, { maxLength: 40 }).map((events) => live([born, ...events]));

describe("transition", () => {
  test("is total and pure: every event on every state gives a result and mutates neither", () => {
    fc.assert(
      fc.property(fc.option(task, { nil: null }), event, (state, fact) => {
        const copies = structuredClone([state, fact]);
        const outcome = transition(state, fact);
        expect([state, fact]).toEqual(copies as [Task | null, TaskEvent]);
        if (outcome.changed) expect(STATUSES).toContain(outcome.task.status);
        else expect(outcome.task).toBe(state);
        expect(transition(state, fact)).toEqual(outcome);
      }),
      RUNS,
    );
  });

  test("an ended task does not change except by a resume", () => {
    fc.assert(
      fc.property(task, event, (state, fact) => {
        fc.pre(!isLive(state.status) && fact.type !== "task.resumed");
        const { task: after } = transition(state, fact);
        expect(after?.status).toBe(state.status);
        expect(after?.run).toBe(state.run);
        expect(after?.completedAt).toBe(state.completedAt);
      }),
      RUNS,
    );
  });

  test("only a completed task can be resumed, unless the caller allows error or cancelled", () => {
    fc.assert(
      fc.property(task, fc.subarray(["error", "cancelled"] as const), (state, allow) => {
        const may = state.status === "completed" || (allow as readonly string[]).includes(state.status);
        const asked = { prompt: "go on", messageId: "m", owner: null, allow: [...allow] };
        const outcome = transition(state, { type: "task.resumed", at: 1, ...asked });
        expect(outcome.changed).toBe(may);
        if (outcome.changed) {
          expect(outcome.task).toMatchObject({
            status: "resumed",
            run: { number: state.run.number + 1, result: null },
          });
        }
      }),
      RUNS,
    );
  });

  test("an event of another run changes nothing", () => {
    fc.assert(
      fc.property(task, event, (state, fact) => {
        fc.pre("run" in fact && fact.run !== state.run.number);
        expect(transition(state, fact).changed).toBe(false);
      }),
      RUNS,
    );
  });

  test("the end of a run is reported at most once, exactly when it ends", () => {
    fc.assert(
      fc.property(lives, (steps) => {
        const told = new Set<number>();
        for (const { before, outcome } of steps) {
          if (!outcome.changed) continue;
          const ends = before !== null && isLive(before.status) && !isLive(outcome.task.status);
          expect(outcome.notice?.kind === "ended").toBe(ends);
          if (!ends) continue;
          expect(told.has(outcome.task.run.number)).toBe(false);
          told.add(outcome.task.run.number);
        }
      }),
      RUNS,
    );
  });

  test("the fields agree with the status at every step", () => {
    fc.assert(
      fc.property(lives, (steps) => {
        for (const { outcome } of steps) {
          if (outcome.task === null) continue;
          const { status, run, phase, completedAt, owner, cancelRequestedAt } = outcome.task;
          expect(run.outcome).toBe(isLive(status) ? null : (status as "completed" | "error" | "cancelled"));
          expect(run.endedAt === null).toBe(isLive(status));
          expect(completedAt).toBe(run.endedAt);
          expect(phase === null).toBe(!isLive(status));
          if (!isLive(status)) expect([owner, cancelRequestedAt]).toEqual([null, null]);
          expect(status === "running").toBe(isLive(status) && run.number === 0);
        }
      }),
      RUNS,
    );
  });

  test("an import adds an ended task unchanged and without a notice; a live one is refused", () => {
    fc.assert(
      fc.property(task, (imported) => {
        const outcome = transition(null, { type: "task.imported", at: 1, task: imported });
        if (isLive(imported.status)) expect(outcome).toEqual({ changed: false, task: null, reason: "live" });
        else expect(outcome).toEqual({ changed: true, task: imported, notice: null });
      }),
      RUNS,
    );
  });
});

describe("phases", () => {
  const retrying = (count: number, reason = "overloaded") => ({ kind: "retrying", reason, count }) as const;
  const waiting = (requestId: string) =>
    ({ kind: "waiting", requestId, asks: "permission", text: "run a command" }) as const;
  const answered = { kind: "answered", requestId: "q", at: 2, reply: "allowed once", by: "dashboard" } as const;
  const phased = (phase: Phase, detail: PhaseDetail | null = null): TaskEvent => {
    return { type: "run.phased", at: 2, run: 0, phase, detail };
  };
  /** The notices that the parent gets at each step; null for none, "refused" if nothing changed. */
  const told = (parentSessionId: string, ...events: TaskEvent[]) =>
    live([{ ...born, task: newTask(ID, { parentSessionId }) }, ...events])
      .slice(1)
      .map(({ outcome }) => (outcome.changed ? (outcome.notice?.topic ?? null) : "refused"));

  test("a parent is notified of a stall, of each request, and of a provider that fails again", () => {
    expect(told("parent", phased("working"), phased("stalled"))).toEqual([null, "stalled"]);
    expect(told("parent", phased("waiting", waiting("a")), phased("waiting", waiting("b")))).toEqual([
      "waiting:a",
      "waiting:b",
    ]);
    expect(told("parent", phased("retrying", retrying(1)), phased("retrying", retrying(2)))).toEqual([
      null,
      "retrying",
    ]);
  });

  test("a task launched by a person notifies no one", () => {
    const ended: TaskEvent = { type: "run.failed", at: 3, run: 0, error: "x", progress: null };
    expect(told("", phased("stalled"), phased("waiting", waiting("a")), ended)).toEqual([null, null, null]);
  });

  test("repeating a phase changes nothing; another reason or count does", () => {
    const first = phased("retrying", retrying(1));
    expect(told("parent", first, first, phased("retrying", retrying(1, "no network")))).toEqual([
      null,
      "refused",
      null,
    ]);
    expect(told("parent", phased("working"), phased("working"))).toEqual([null, "refused"]);
    const asked = phased("waiting", waiting("a"));
    expect(told("parent", asked, asked)).toEqual(["waiting:a", "refused"]);
    expect(told("parent", asked, phased("waiting", { ...answered, requestId: "a" }))).toEqual(["waiting:a", null]);
    expect(told("parent", phased("working", answered), phased("working"))).toEqual([null, null]);
  });

  test("the last answer stays visible after the run ended; other details are removed", () => {
    const end: TaskEvent = { type: "run.completed", at: 3, run: 0, result: "", progress: null };
    const endAfter = (event: TaskEvent) => live([born, event, end]).at(-1)?.outcome.task?.phaseDetail;
    expect(endAfter(phased("working", answered))).toEqual(answered);
    expect(endAfter(phased("waiting", waiting("a")))).toBeNull();
  });
});

test("a task is cleared once, and a resume brings it back with its totals and optionally another agent", () => {
  const progress = { ...noProgress(1), toolCalls: 3, cost: 0.5 };
  const end: TaskEvent = { type: "run.completed", at: 3, run: 0, result: "done", progress };
  const clear: TaskEvent = { type: "task.cleared", at: 4 };
  const resumed: TaskEvent = { type: "task.resumed", at: 5, prompt: "p", messageId: "m", owner: "i", allow: [] };
  const steps = live([born, end, clear, { ...clear, at: 9 }, { ...resumed, agent: "build" }]);
  expect(steps[2]?.outcome.task?.clearedAt).toBe(4);
  expect(steps[3]?.outcome).toMatchObject({ changed: false, reason: "no_change" });
  const again = { clearedAt: null, agent: "build", progress: { ...progress, lastUpdate: 5 } };
  expect(steps[4]?.outcome.task).toMatchObject({ ...again, run: { number: 1, before: progress, startedAt: 5 } });
  expect(live([born, end, resumed]).at(-1)?.outcome.task?.agent).toBe(newTask(ID).agent);
  const late = live([born, end, resumed, { ...clear, run: 0 }]).at(-1)?.outcome;
  expect(late).toMatchObject({ changed: false, reason: "stale_run", task: { clearedAt: null } });
});

test("each place is recorded once as having seen a request, and an answer is applied once", () => {
  const waiting = { kind: "waiting", requestId: "r", asks: "question", text: "?" } as const;
  const answered = { kind: "answered", requestId: "r", reply: "answered", by: "api", at: 4 } as const;
  const seen = { type: "request.seen", at: 3, run: 0, requestId: "r", by: "dashboard" } as const;
  const applied = { type: "request.applied", at: 5, run: 0, requestId: "r" } as const;
  const steps = live([
    born,
    seen,
    { type: "run.phased", at: 2, run: 0, phase: "waiting", detail: waiting },
    { ...seen, requestId: "another" },
    seen,
    seen,
    { ...seen, by: "api" },
    { ...seen, run: 1 },
    applied,
    { type: "run.phased", at: 4, run: 0, phase: "working", detail: answered },
    seen,
    applied,
    applied,
  ]);
  expect(steps.map(({ outcome }) => outcome.changed)).toEqual([1, 0, 1, 0, 1, 0, 1, 0, 0, 1, 0, 1, 0].map(Boolean));
  expect(steps[6]?.outcome.task?.phaseDetail).toEqual({ ...waiting, seen: ["dashboard", "api"] });
  expect(steps.at(-1)?.outcome.task?.phaseDetail).toEqual({ ...answered, appliedAt: 5 });
});
