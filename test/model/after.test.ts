import { describe, expect, test } from "bun:test";
import {
  type After,
  IF_FAILED,
  isSkipped,
  judgeAfter,
  type PredecessorEnd,
  resultsIn,
  skipReason,
  withResults,
} from "../../src/model/after.ts";
import type { TaskEvent } from "../../src/model/events.ts";
import type { Status, Task } from "../../src/model/task.ts";
import { transition } from "../../src/model/transition.ts";
import { newTask } from "../../src/testing/sample-task.ts";

const judged = (ifFailed: After["ifFailed"], ...statuses: (Status | null)[]) => {
  const tasks = statuses.map((_, index) => `t${index}`);
  const known = statuses.flatMap((status, index) => (status === null ? [] : [{ id: `t${index}`, status }]));
  const verdict = judgeAfter({ tasks, ifFailed }, known);
  return "by" in verdict ? `${verdict.kind} ${verdict.by} ${verdict.status}` : verdict.kind;
};

describe("when a task may start after others", () => {
  test("once all have completed, whatever the policy; and not while one is live", () => {
    for (const policy of IF_FAILED) {
      expect(judged(policy, "completed", "completed")).toBe("start");
      expect(judged(policy, "completed", "running")).toBe("later");
      expect(judged(policy, "resumed")).toBe("later");
    }
  });

  test("one that did not complete decides at once, unless the task runs anyway, which waits for all", () => {
    for (const status of ["error", "cancelled"] as const) {
      expect(judged("skip", "running", status)).toBe(`skip t1 ${status}`);
      expect(judged("wait", "running", status)).toBe(`blocked t1 ${status}`);
      expect(judged("run_anyway", "running", status)).toBe("later");
      expect(judged("run_anyway", "completed", status)).toBe("start");
    }
  });

  test("one that does not exist any more has not completed", () => {
    expect(judged("skip", null)).toBe("skip t0 null");
    expect(judged("wait", "completed", null)).toBe("blocked t1 null");
    expect(judged("run_anyway", null, "completed")).toBe("start");
  });
});

function apply(task: Task | null, event: TaskEvent): Task {
  const outcome = transition(task, event);
  if (!outcome.changed) throw new Error(outcome.reason);
  return outcome.task;
}

describe("the task that waits", () => {
  const after: After = { tasks: ["a"], ifFailed: "wait" };
  const held = apply(null, {
    type: "task.created",
    at: 1,
    task: newTask("t", { sessionId: "", messageId: "", owner: null, after }),
  });
  const edited = { type: "task.edited", at: 2, run: 0, after: null, prompt: "else" } as const;
  const place = { sessionId: "s", directory: "/", agent: "a", model: null, messageId: "m" };
  const claimed: TaskEvent = { type: "task.claimed", at: 9, run: 0, owner: "o", ...place };

  test("says so, can be changed until it has a session, and its time begins when it starts", () => {
    expect([held.phase, held.phaseDetail, held.after]).toEqual(["queued", { kind: "after" }, after]);
    const changed = apply(held, edited);
    expect([changed.after, changed.run.prompt, changed.phaseDetail]).toEqual([null, "else", null]);
    const started = apply(held, claimed);
    expect([started.phase, started.run.startedAt, started.startedAt]).toEqual(["starting", 9, 1]);
    expect(transition(started, edited)).toMatchObject({ changed: false, reason: "other_owner" });
  });

  test("tells its parent once for each predecessor that keeps it from starting", () => {
    const blocked = (by: string): TaskEvent => {
      const detail = { kind: "blocked", by, text: "x", at: 3 } as const;
      return { type: "run.phased", at: 3, run: 0, phase: "waiting", detail };
    };
    const first = transition(held, blocked("a"));
    expect(first).toMatchObject({ changed: true, notice: { kind: "waiting", topic: "blocked:a", wake: "now" } });
    if (!first.changed) throw new Error("refused");
    expect(transition(first.task, blocked("a"))).toMatchObject({ changed: false, reason: "no_change" });
    expect(transition(first.task, blocked("b"))).toMatchObject({ notice: { topic: "blocked:b" } });
  });

  test("is known as not run by its reason, which names the other task", () => {
    const reason = skipReason("a", "error");
    expect(reason).toBe("Not run: it was to start after task a, which failed.");
    const skipped = apply(held, { type: "run.cancelled", at: 3, run: 0, reason, progress: null });
    expect([skipped.status, isSkipped(skipped)]).toEqual(["cancelled", true]);
    const cancelled = apply(held, { type: "run.cancelled", at: 3, run: 0, reason: "enough", progress: null });
    expect(isSkipped(cancelled)).toBe(false);
  });
});

describe("results in a prompt", () => {
  const after: After = { tasks: ["ses_first", "ses_second"], ifFailed: "run_anyway" };
  const end = (result: string | null): PredecessorEnd => ({ outcome: "completed", result, error: null });
  const filled = (prompt: string, ends: Record<string, PredecessorEnd>) =>
    withResults(prompt, after, new Map(Object.entries(ends)), () => "mark");

  test("are quoted in the place of their placeholders, by id or a part of it", () => {
    expect(resultsIn("a {{result:x}} b {{ result:x }} {{result: y}}")).toEqual(["x", "y"]);
    const prompt = filled("Check {{result:ses_first}} and {{result:second}}.", {
      ses_first: end("one"),
      ses_second: end("two"),
    });
    expect(prompt).toBe(
      "Check --- result of task ses_first, quoted until [mark] ---\none\n--- end of quote [mark] --- and " +
        "--- result of task ses_second, quoted until [mark] ---\ntwo\n--- end of quote [mark] ---.",
    );
  });

  test("are never replaced in turn, and what is no predecessor stays as it is", () => {
    const prompt = filled("{{result:ses_first}} {{result:ses_}} {{result:other}}", {
      ses_first: end("see {{result:ses_second}} and $& $1"),
      ses_second: end("secret"),
    });
    expect(prompt).toContain("see {{result:ses_second}} and $& $1");
    expect(prompt).not.toContain("secret");
    expect(prompt).toEndWith("{{result:ses_}} {{result:other}}");
  });

  test("say that there is none, and that it is an error", () => {
    const failed: PredecessorEnd = { outcome: "error", result: null, error: "no credit" };
    expect(filled("{{result:ses_first}}", { ses_first: failed })).toContain(
      "task ses_first did not complete; its error, quoted until [mark] ---\nno credit\n",
    );
    expect(filled("{{result:ses_first}}", { ses_first: end("") })).toBe("(Task ses_first completed without a text.)");
    expect(filled("{{result:ses_first}}", {})).toBe("(Task ses_first has no result: it does not exist any more.)");
  });

  test("are cut, say how, and share the room if there are many", () => {
    const long = filled("{{result:ses_first}}", { ses_first: end(`${"x".repeat(15_999)}🌍${"y".repeat(50_000)}`) });
    expect(long).toEndWith("--- end of quote [mark] ---\n(Cut: the first 15999 of 66001 characters.)");
    expect(long.isWellFormed()).toBe(true);
    const many = filled("{{result:ses_first}}".repeat(20), { ses_first: end("z".repeat(60_000)) });
    expect([many.split("(Cut: the first 5000 of").length, many.length < 110_000]).toEqual([21, true]);
  });
});
