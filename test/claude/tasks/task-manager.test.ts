import { describe, expect, test } from "bun:test";
import { TaskNotFoundError, TaskTimeoutError } from "../../../src/claude/errors.ts";
import type { TaskEvent } from "../../../src/claude/tasks/task-events.ts";
import { TaskManager } from "../../../src/claude/tasks/task-manager.ts";
import { collect } from "../claude-bed.ts";
import { notified, progress, recorded, started, updated } from "../messages/sample-messages.ts";
import { ends, fed } from "./tracked-messages.ts";

describe("tracking", () => {
  test("registers a task by its start or by its notification, whichever comes first [CT-08]", () => {
    const manager = new TaskManager();
    expect(manager.track(started("a", "1"))?.id).toBe("a");
    expect(manager.track(notified("b", "1"))?.id).toBe("b");
    expect(manager.list().map((task) => [task.id, task.status()])).toEqual([
      ["a", ""],
      ["b", "completed"],
    ]);
    manager.track(started("b", "1"));
    expect([manager.get("b").status(), manager.get("b").prompt]).toEqual(["completed", "Do it"]);
    manager.track(notified("a", "1"));
    expect(manager.list({ live: true })).toEqual([]);
  });

  test("returns a task by its id, and a dedicated error if there is none [CT-09]", async () => {
    const manager = fed([started("a")]);
    expect(manager.get("a")).toBe(manager.get("a"));
    expect(manager.get("a").description).toBe("Job a");
    expect(() => manager.get("b")).toThrow(TaskNotFoundError);
    expect(manager.find("b")).toBeUndefined();
    const failure = await manager.wait("b").catch((thrown) => thrown);
    expect([failure.code, failure.taskId]).toEqual(["task_not_found", "b"]);
  });

  test("has an empty status while a task runs, and then its outcome [CT-12]", () => {
    const manager = fed([started("a"), started("b"), started("c")]);
    expect(["a", "b", "c"].map((id) => manager.get(id).status())).toEqual(["", "", ""]);
    expect(manager.get("a").poll()).toBeUndefined();
    manager.track(notified("a"));
    manager.track(notified("b", undefined, { status: "failed" }));
    manager.track(notified("c", undefined, { status: "stopped" }));
    expect(["a", "b", "c"].map((id) => manager.get(id).status())).toEqual(["completed", "failed", "stopped"]);
    expect(manager.get("b").poll()).toMatchObject({ taskId: "b", status: "failed" });
  });

  test("keeps the notification's summary [CT-13]", () => {
    const manager = fed([started("a", "1"), updated("a", "1", { status: "completed" })]);
    manager.track(notified("a", "1", { summary: "FINAL 42" }));
    expect(manager.get("a").summary()).toBe("FINAL 42");
  });

  test("reports progress that is newer than what is known, and nothing about an ended run", async () => {
    const manager = new TaskManager();
    const events = manager.events();
    const later = [progress("a", "1", 10), progress("a", "1", 30), progress("a", "1", 20), progress("a", "1", 30)];
    for (const message of [started("a", "1"), ...later, notified("a", "1"), progress("a", "1", 40)])
      manager.track(message);
    manager.close();
    const told = (await collect(events)).flatMap((event) => (event.type === "task.progress" ? [event.usage] : []));
    expect(told.map((usage) => usage?.duration_ms)).toEqual([10, 30, 30]);
  });

  test("keeps usage, the last tool, and the path of the output", () => {
    const manager = fed([started("a", "1"), progress("a", "1", 10), progress("a", "1", 30), progress("a", "1", 20)]);
    const task = manager.get("a");
    expect([task.usage()?.duration_ms, task.lastTool, task.outputFile]).toEqual([30, "Bash", undefined]);
    const launched = { status: "async_launched", agentId: "a", description: "d", prompt: "p", outputFile: "/o" };
    const content = [{ type: "tool_result", tool_use_id: "toolu_a", content: "Async agent launched" }];
    manager.track({ type: "user", message: { content }, tool_use_result: launched });
    expect(task.outputFile).toBe("/o");
    manager.track(notified("a", "1"));
    expect([task.usage()?.duration_ms, task.outputFile]).toEqual([1792, "/tmp/a.output"]);
  });

  test("ignores unknown messages, and throws if a task message is malformed", () => {
    const manager = fed([started("a")]);
    expect(manager.track({ type: "system", subtype: "of_tomorrow", task_id: "a" })).toBeUndefined();
    expect(() => manager.track({ ...started("b"), task_id: 5 })).toThrow("the field task_id");
    expect(manager.list().map((task) => [task.id, task.status()])).toEqual([["a", ""]]);
  });

  test("a task whose notification does not say how it ended is lost: no wait hangs", async () => {
    const manager = fed([started("a", "1"), started("b", "1")]);
    const end = manager.wait("a");
    expect(() => manager.track({ ...notified("a", "1"), status: "odd" })).toThrow("the field status");
    expect(await end).toMatchObject({ status: "lost", reason: expect.stringContaining("status") });
    expect(() => manager.track({ ...updated("b", "1", {}), patch: 7 })).toThrow("the field patch");
    expect(manager.get("b").status()).toBe("");
    for (const value of [null, 5, { type: "system", subtype: "task_notification", task_id: 7 }]) {
      expect(() => manager.track(value)).toThrow("cannot be parsed");
    }
  });
});

describe("a resumed task", () => {
  test("keeps its id, has a new run, and ignores late messages about the old one", async () => {
    const manager = fed([started("a", "1"), notified("a", "1")]);
    const task = manager.get("a");
    manager.track(started("a", "2", { tool_use_id: "toolu_other" }));
    expect([task.runId, task.status(), task.toolUseId]).toEqual(["2", "", "toolu_other"]);
    manager.track(notified("a", "1", { summary: "late" }));
    manager.track(started("a", "1"));
    expect([task.runId, task.status()]).toEqual(["2", ""]);
    const end = task.wait();
    manager.track(notified("a", "2", { summary: "second" }));
    expect(await end).toMatchObject({ runId: "2", summary: "second" });
  });

  test("of an older CLI, which names no runs, is distinguished from a repeated start", () => {
    const first = started("a");
    const manager = fed([first, notified("a"), first]);
    expect(manager.get("a").status()).toBe("completed");
    manager.track(started("a"));
    expect(manager.get("a").status()).toBe("");
  });

  test("reports its end once per run", () => {
    const messages = recorded.get("resumed-agent") ?? [];
    expect(ends([...messages, ...messages])).toHaveLength(2);
  });
});

describe("waiting", () => {
  test("resolves at the end, or at once after it, and rejects when its signal aborts [CT-10]", async () => {
    const manager = fed([started("a"), started("b")]);
    const waiting = manager.get("a").wait();
    manager.track(notified("a"));
    expect((await waiting).summary).toBe("a is done");
    expect((await manager.wait("a", { timeout: 0 })).status).toBe("completed");

    const stop = new AbortController();
    const aborted = manager.wait("b", { signal: stop.signal }).catch((thrown) => thrown);
    stop.abort(new Error("enough"));
    expect((await aborted).message).toBe("enough");
    expect(await manager.wait("b", { signal: stop.signal }).catch((thrown) => thrown.message)).toBe("enough");
    expect(manager.get("b").status()).toBe("");
  });

  test("that times out rejects with the id and the time, and the task continues [CT-11]", async () => {
    const manager = fed([started("a")]);
    const failure = await manager
      .get("a")
      .wait({ timeout: 10 })
      .catch((thrown) => thrown);
    expect(failure).toBeInstanceOf(TaskTimeoutError);
    expect([failure.taskId, failure.timeout, failure.code]).toEqual(["a", 10, "task_timeout"]);
    expect(manager.get("a").status()).toBe("");
    manager.track(notified("a"));
    expect((await manager.wait("a")).status).toBe("completed");
    expect((await manager.wait("a", { timeout: Number.NaN }).catch((thrown) => thrown)).code).toBe("invalid_input");
  });

  test("for hours does not end at once", async () => {
    const manager = fed([started("a")]);
    const waiting = manager.wait("a", { timeout: 2 ** 40 });
    manager.track(notified("a"));
    expect((await waiting).status).toBe("completed");
  });
});

describe("memory", () => {
  test("keeps a bounded number of ended tasks, and dropped ones do not come back", () => {
    const told: string[] = [];
    const manager = new TaskManager({ keepEnded: 3, onTaskNotification: ({ taskId }) => told.push(taskId) });
    manager.track(started("live", "1"));
    const all = Array.from({ length: 50 }, (_, i) => [started(`t${i}`, "1"), notified(`t${i}`, "1")]).flat();
    for (const message of all) manager.track(message);
    expect(manager.list().map(({ id }) => id)).toEqual(["live", "t47", "t48", "t49"]);
    for (const message of all) manager.track({ ...message, uuid: `again-${message.uuid}` });
    expect([told.length, manager.list().length]).toEqual([50, 4]);
    manager.track(started("t1", "2"));
    expect(manager.get("t1").status()).toBe("");
  });

  test("buffers a bounded number of events for a slow reader, and reports how many it lost", async () => {
    const manager = new TaskManager({ eventBuffer: 2 });
    const events = manager.events();
    for (const id of ["a", "b", "c", "d", "e"]) manager.track(started(id, "1"));
    const seen: TaskEvent[] = [];
    for await (const event of events) {
      seen.push(event);
      if (seen.length === 3) break;
    }
    expect(seen.map((event) => ("count" in event ? event.count : "task" in event && event.task.id))).toEqual([
      3,
      "d",
      "e",
    ]);
    expect(await collect(events)).toEqual([]);
  });

  test("ends every reader on close, and live tasks are lost", async () => {
    const manager = new TaskManager();
    const reading = collect(manager.events());
    manager.track(started("a", "1"));
    const waiting = manager.wait("a");
    manager.close();
    expect((await waiting).status).toBe("lost");
    expect((await reading).map(({ type }) => type)).toEqual(["task.started", "task.ended"]);
    expect(await collect(manager.events())).toEqual([]);
  });
});
