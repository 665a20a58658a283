/** What the panel shows of a task, and which tasks it shows where. */
import { expect, test } from "bun:test";
import { wireTask } from "../../src/http/wire.ts";
import type { Task } from "../../src/model/task.ts";
import { transition } from "../../src/model/transition.ts";
import { newTask } from "../../src/testing/sample-task.ts";
import { panelOptions } from "../../src/tui/panel-options.ts";
import { beginning, countText, detailOf, markOf, type PanelTask, panelTask, timeOf } from "../../src/tui/panel-task.ts";
import { groupsOf, shownInSidebar, tasksOf } from "../../src/tui/task-groups.ts";

function sampleTask(fields: Partial<Task>): Task {
  const { task } = transition(null, { type: "task.created", at: 1_000, task: newTask("one", { agent: "general" }) });
  if (task === null) throw new Error("there is no task");
  return { ...task, phase: "working", ...fields };
}

const shown = (fields: Partial<Task>): PanelTask => panelTask(wireTask(sampleTask(fields)));
const asking = (asks: "permission" | "question", text: string, at: number): Partial<Task> => {
  return { phase: "waiting", phaseDetail: { kind: "waiting", requestId: `r${at}`, asks, text, at } };
};
const ended = (status: "completed" | "error" | "cancelled", at: number, error: string | null = null) => {
  const run = { ...sampleTask({}).run, endedAt: at, outcome: status, error };
  return { status, phase: null, completedAt: at, run } as Partial<Task>;
};

test("a task has a mark, a line that says what it does, and a time", () => {
  const now = 3_725_000;
  const question = shown({ ...asking("question", "Which\ncolour?", now - 14_000), id: "q" });
  expect([markOf(question), detailOf(question), timeOf(question, now)]).toEqual(["?", "Which colour?", "14s"]);
  const permission = shown(asking("permission", "bash: rm -rf build", 0));
  expect([detailOf(permission), timeOf(permission, now)]).toEqual(["allow: bash: rm -rf build", "1h02"]);
  const progress = { ...sampleTask({}).progress, toolCalls: 2, lastTools: ["read", "glob"] };
  const working = shown({ progress });
  expect([markOf(working), detailOf(working), timeOf(working, 126_000)]).toEqual([
    "●",
    "general · glob · 2 calls",
    "2m05",
  ]);
  const retrying = shown({ phase: "retrying", phaseDetail: { kind: "retrying", reason: "503", count: 3 } });
  expect([markOf(retrying), detailOf(retrying)]).toEqual(["◌", "general · retrying (3)"]);
  const failed = shown(ended("error", 7_000, "no\ncredit"));
  expect([markOf(failed), detailOf(failed), timeOf(failed, now)]).toEqual(["✗", "no credit", "6s"]);
  expect([markOf(shown(ended("completed", 2))), markOf(shown(ended("cancelled", 2)))]).toEqual(["✓", "−"]);
});

test("text of agents stays on one line, with what is hidden spelled out", () => {
  const task = shown({
    description: "one\ntwo \u001b[31m\u202ethree",
    agent: "",
    ...asking("question", "a\n\u0007b", 1),
  });
  expect(task.description).toBe("one two <U+001B>[31m<U+202E>three");
  expect(detailOf(task)).toBe("a <U+0007>b");
  expect(task.request?.text).toBe("a\n<U+0007>b");
  // None is known yet: a word in its place would look like one.
  expect(task.agent).toBe("");
});

test("what needs a person comes first, the longest waiting on top; a request of an ended task is none", () => {
  const tasks = [
    shown({ id: "old end", ...ended("completed", 10_000) }),
    shown({ id: "working" }),
    shown({ id: "later", ...asking("question", "?", 500) }),
    shown({
      id: "new end",
      ...ended("error", 20_000),
      ...{ phaseDetail: asking("question", "?", 1).phaseDetail ?? null },
    }),
    shown({ id: "first", ...asking("permission", "!", 100) }),
    shown({ id: "blocked", phase: "queued", phaseDetail: { kind: "blocked", by: "x", text: "x failed", at: 50 } }),
  ];
  const groups = groupsOf(tasks);
  const ids = (list: readonly PanelTask[]) => list.map(({ id }) => id);
  expect([ids(groups.needs), ids(groups.working), ids(groups.ended)]).toEqual([
    ["blocked", "first", "later"],
    ["working"],
    ["new end", "old end"],
  ]);
  expect(countText(tasks)).toBe("4 tasks · 3 need you");
  expect(countText(tasks.slice(0, 2))).toBe("1 task");
  expect(countText(tasks.slice(0, 1))).toBe("");
});

test("the sidebar has at most eight live and three ended tasks, and says how many more there are", () => {
  const live = Array.from({ length: 100 }, (_, at) => shown({ id: `live ${at}` }));
  const done = Array.from({ length: 20 }, (_, at) => shown({ id: `done ${at}`, ...ended("completed", 5_000 + at) }));
  const { shown: rows, more } = shownInSidebar(groupsOf([...done, ...live]));
  expect(rows.map((row) => row.isLive)).toEqual([...Array(8).fill(true), ...Array(3).fill(false)]);
  expect(more).toBe(109);
});

test("a session has the tasks that it launched, and those that they launched", () => {
  const task = (id: string, parentSessionId: string) => shown({ id, sessionId: id, parentSessionId });
  const tasks = [
    task("a", "s"),
    task("b", "a"),
    task("c", "b"),
    task("d", "other"),
    task("e", ""),
    task("loop", "loop"),
  ];
  expect(tasksOf(tasks, "s").map(({ id }) => id)).toEqual(["a", "b", "c"]);
  expect(tasksOf(tasks, "loop").map(({ id }) => id)).toEqual(["loop"]);
  expect(tasksOf(tasks, "")).toEqual([]);
});

test("what does not fit is shown in part, and known to be", () => {
  const room = { columns: 10, rows: 3 };
  expect(beginning("one\ntwo", room)).toBeNull();
  expect(beginning("x".repeat(30), room)).toBeNull();
  expect(beginning("x".repeat(31), room)).toBe(`${"x".repeat(30)} …`);
  expect(beginning("字".repeat(15), room)).toBeNull();
  expect(beginning("字".repeat(16), room)).toBe(`${"字".repeat(15)} …`);
  expect(beginning(`ls${"\t".repeat(50)}; rm -rf everything`, room)).toBe("ls\t\t\t …");
  expect(beginning("1\n2\n3\n4", room)).toBe("1\n2\n3 …");
  expect(beginning(`1\n${"y".repeat(25)}`, room)).toBe(`1\n${"y".repeat(20)} …`);
});

test("options that cannot be used are replaced by the defaults", () => {
  expect(panelOptions(undefined)).toEqual({ key: "<leader>j", screenKey: "f6", server: null });
  expect(panelOptions({ key: "f4", screenKey: false, url: "http://10.0.0.2:5165", token: "t" })).toEqual({
    key: "f4",
    screenKey: null,
    server: { url: "http://10.0.0.2:5165", token: "t" },
  });
  expect(panelOptions({ key: 7, url: "nowhere" })).toMatchObject({ key: "<leader>j", server: null });
});
