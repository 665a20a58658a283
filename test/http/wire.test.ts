/** How a task looks on the wire. */
import { expect, test } from "bun:test";
import { wireTask } from "../../src/http/wire.ts";
import type { PhaseDetail } from "../../src/model/task.ts";
import { transition } from "../../src/model/transition.ts";
import { taskSchema } from "../../src/protocol/tasks.ts";
import { newTask } from "../../src/testing/sample-task.ts";

/** One of each kind: the compiler asks for a new one. */
const DETAILS: { [Kind in PhaseDetail["kind"]]: Extract<PhaseDetail, { kind: Kind }> } = {
  after: { kind: "after" },
  blocked: { kind: "blocked", by: "ses_1", text: "It starts after task ses_1, which failed.", at: 1 },
  retrying: { kind: "retrying", reason: "overloaded", count: 2, next: 3 },
  paused: { kind: "paused", cause: "quota", until: 4, reason: "usage limit", count: 1 },
  waiting: { kind: "waiting", requestId: "per_1", asks: "permission", text: "edit: a.txt", at: 5 },
  answered: { kind: "answered", requestId: "per_1", at: 6, reply: "allowed once", by: "dashboard" },
};

for (const detail of Object.values(DETAILS)) {
  test(`what a task does is on the wire as the schema says: ${detail.kind}`, () => {
    const made = transition(null, { type: "task.created", at: 1, task: newTask("ses_0123456789abcdef") });
    if (!made.changed) throw new Error(made.reason);
    const wired = wireTask({ ...made.task, phaseDetail: detail });
    expect(wired.phaseDetail).toMatchObject({ kind: detail.kind });
    expect(taskSchema.parse(wired).phaseDetail).toEqual(wired.phaseDetail);
  });
}

test("the token is not on the wire that an earlier version kept in the address of a clone", () => {
  const made = transition(null, { type: "task.created", at: 1, task: newTask("ses_0123456789abcdef") });
  if (!made.changed) throw new Error(made.reason);
  const clone = { hostname: "far", remote: "https://ghp_SECRET@example.com/b.git", branch: "x" };
  expect(wireTask({ ...made.task, clone }).clone).toEqual({ ...clone, remote: "https://example.com/b.git" });
});
