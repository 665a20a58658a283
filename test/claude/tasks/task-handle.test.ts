import { describe, expect, test } from "bun:test";
import { TaskManager, type TaskManagerOptions } from "../../../src/claude/tasks/task-manager.ts";
import { collect } from "../claude-bed.ts";
import { notified, type Sample, started } from "../messages/sample-messages.ts";

function fed(messages: readonly Sample[], options: TaskManagerOptions = {}): TaskManager {
  const manager = new TaskManager(options);
  for (const message of messages) manager.track(message);
  return manager;
}

describe("a handle without a session", () => {
  test("says what it needs for cancel and resume", async () => {
    const manager = fed([started("a")]);
    const cancelled = await manager
      .get("a")
      .cancel()
      .catch((thrown) => thrown);
    expect([cancelled.code, cancelled.message]).toEqual(["host_unsupported", expect.stringContaining("openClaude")]);
    manager.track(notified("a"));
    expect((await manager.get("a").cancel()).status).toBe("completed");
    expect(
      (
        await manager
          .get("a")
          .resume("x")
          .catch((thrown) => thrown)
      ).code,
    ).toBe("host_unsupported");
  });
});

describe("a continuation", () => {
  const control = { stopTask: async () => {}, send: () => undefined };
  const failureOf = (work: Promise<unknown>) => work.then(() => "none").catch((thrown) => thrown);

  test("of a shell is rejected; of an earlier task, which a session reports without a type, it is not", async () => {
    const asked: string[] = [];
    const manager = new TaskManager({ control: { ...control, send: (text) => void asked.push(text) } });
    manager.track(started("b", "1", { task_type: "local_bash", subagent_type: undefined }));
    manager.track(notified("b", "1"));
    const failure = await failureOf(manager.get("b").resume("more"));
    expect([failure.code, failure.message, asked]).toEqual([
      "task_not_resumable",
      expect.stringContaining("shell"),
      [],
    ]);
    manager.track(notified("a", undefined, { status: "stopped" }));
    let isOver = false;
    const resuming = manager
      .get("a")
      .resume("more")
      .then(() => {
        isOver = true;
      });
    manager.track(started("other", "1"));
    await Bun.sleep(1);
    expect(isOver).toBe(false);
    manager.track(started("a", "2"));
    await resuming;
    expect(asked).toEqual([expect.stringContaining("more")]);
  });

  test("in progress ends at once when the process ends", async () => {
    const manager = new TaskManager({ control });
    manager.track(started("a", "1"));
    manager.track(notified("a", "1"));
    const failure = failureOf(manager.get("a").resume("more"));
    manager.processEnded("killed by SIGKILL");
    expect(await failure).toMatchObject({ code: "host_unavailable", message: expect.stringContaining("SIGKILL") });
  });

  test("that starts after its time limit is still noticed", async () => {
    const manager = new TaskManager({ control });
    manager.track(started("a", "1"));
    manager.track(notified("a", "1"));
    const failure = await failureOf(manager.get("a").resume("more", { timeout: 10 }));
    expect([failure.name, failure.timeout]).toEqual(["TaskTimeoutError", 10]);
    manager.track(started("a", "2"));
    expect(manager.get("a").status()).toBe("");
    manager.close();
  });
});

describe("a cancellation", () => {
  test("that Claude refuses rejects with the reason, unless the task has ended meanwhile", async () => {
    const manager = new TaskManager({ control: { stopTask: () => Promise.reject(new Error("no such task")) } });
    manager.track(started("a", "1"));
    const failure = await manager
      .get("a")
      .cancel()
      .catch((thrown) => thrown);
    expect([failure.code, failure.cause.message]).toEqual(["host_failed", "no such task"]);
    const second = manager.get("a").cancel();
    manager.track(notified("a", "1"));
    expect((await second).status).toBe("completed");
  });

  test("waits for the end no longer than its limit", async () => {
    const manager = new TaskManager({ control: { stopTask: async () => {} } });
    manager.track(started("a", "1"));
    const task = manager.get("a");
    const failure = await task.cancel({ timeout: 10 }).catch((thrown) => thrown);
    expect([failure.name, failure.timeout]).toEqual(["TaskTimeoutError", 10]);
    expect((await task.cancelTree({ timeout: 10 }).catch((thrown) => thrown)).name).toBe("TaskTimeoutError");
    manager.close();
  });
});

describe("a handle whose task was dropped", () => {
  test("follows the task when it is continued, by anyone", async () => {
    const manager = new TaskManager({ keepEnded: 0, control: { stopTask: async () => {}, send: () => undefined } });
    manager.track(started("a", "1"));
    const task = manager.get("a");
    manager.track(notified("a", "1", { summary: "first" }));
    expect(manager.find("a")).toBeUndefined();
    const resuming = task.resume("more");
    manager.track(started("a", "2"));
    expect(await resuming).toBe(task);
    expect([task.status(), manager.get("a")]).toEqual(["", task]);
    const end = task.wait();
    manager.track(notified("a", "2", { summary: "second" }));
    expect(await end).toMatchObject({ runId: "2", summary: "second" });
    manager.track(notified("a", "1", { summary: "late" }));
    expect([task.summary(), manager.list()]).toEqual(["second", []]);
  });
});

describe("the output file", () => {
  const result = (tool_use_id: string, content: unknown, tool_use_result?: unknown) => ({
    type: "user",
    message: { content: [{ type: "tool_result", tool_use_id, content }] },
    tool_use_result,
  });
  const words = (id: string, path: string) =>
    `Command running in background with ID: ${id}. Output is being written to: ${path}. You will be notified.`;

  test("of a shell is known from the result of its call, before it ends and if it never does", () => {
    const manager = fed([started("b1", "1", { task_type: "local_bash" })]);
    manager.track(result("toolu_b1", words("b1", "/tmp/a folder/tasks/b1.output")));
    manager.track(result("toolu_b1", words("b1", "/tmp/later/b1.output")));
    expect(manager.get("b1").outputFile).toBe("/tmp/a folder/tasks/b1.output");
    manager.processEnded("killed");
    expect(manager.get("b1").poll()).toMatchObject({ status: "lost", outputFile: "/tmp/a folder/tasks/b1.output" });
  });

  test("is not read from another call's output, nor for an unknown task", () => {
    const manager = fed([started("b1", "1", { task_type: "local_bash" })]);
    manager.track(result("toolu_other", words("b1", "/etc/b1.output")));
    manager.track(result("toolu_b1", words("b2", "/etc/b2.output")));
    const launched = { status: "async_launched", agentId: "b1", outputFile: "/etc/passwd" };
    manager.track(result("toolu_other", "launched", launched));
    manager.track(result("toolu_b1", [{ type: "text", text: words("b1", "/etc/other.output") }]));
    for (const odd of [{ type: "user" }, { type: "user", message: "x" }, result("toolu_b1", 5)]) manager.track(odd);
    expect(manager.get("b1").outputFile).toBeUndefined();
  });
});

describe("saved tasks", () => {
  const control = { stopTask: async () => {}, send: () => undefined };

  test("have handles in a later process, and are not reported again", async () => {
    const told: string[] = [];
    const before = fed([started("a", "1"), notified("a", "1"), started("b", "1", { parent_task_id: "a" })]);
    const saved = JSON.parse(JSON.stringify(before.save()));
    const after = new TaskManager({ saved, control, onTaskNotification: ({ taskId }) => told.push(taskId) });
    const task = after.get("a");
    expect(task.poll()).toEqual(before.get("a").poll());
    expect([task.prompt, task.agentType, task.outputFile]).toEqual(["Do it", "analyzer", "/tmp/a.output"]);
    expect([task.taskType, task.toolUseId, task.isBackground]).toEqual(["local_agent", "toolu_a", true]);
    expect([task.runId, task.sessionId]).toEqual(["1", before.get("a").sessionId]);
    expect([after.get("b").parentId, after.get("b").status()]).toEqual(["a", ""]);
    after.track(notified("a", undefined, { status: "stopped", summary: "late" }));
    expect([task.status(), task.summary(), told]).toEqual(["completed", "a is done", []]);
    // Running tasks are stopped, as Claude reports when the session is opened again.
    after.track(notified("b", undefined, { status: "stopped", summary: "Job b" }));
    expect([after.get("b").status(), told]).toEqual(["stopped", ["b"]]);
    const resuming = task.resume("more");
    after.track(started("a", "2"));
    expect([await resuming, task.status()]).toEqual([task, ""]);
    expect(after.save().map(({ id, runId }) => [id, runId])).toEqual([
      ["a", "2"],
      ["b", "1"],
    ]);
  });

  test("that had not ended and are not reported again are lost", async () => {
    const before = fed([started("a", "1")]);
    const after = new TaskManager({ saved: before.save(), listWait: 20 });
    expect(await after.wait("a")).toMatchObject({ status: "lost", reason: expect.stringContaining("process") });
  });

  test("are rejected if they are invalid, and obey keepEnded", () => {
    const saved = fed([started("a"), notified("a"), started("b"), notified("b")]).save();
    expect(() => new TaskManager({ saved: [{ ...saved[0], id: 5 }] as never })).toThrow("0.id");
    expect(new TaskManager({ saved, keepEnded: 1 }).list().map(({ id }) => id)).toEqual(["b"]);
  });
});

describe("the texts of an agent", () => {
  const said = (agent_id: string | undefined, content: unknown) => ({
    type: "assistant",
    agent_id,
    message: { content },
  });

  test("are reported while it works, if the session forwards them", async () => {
    const manager = fed([started("a", "1")]);
    const events = manager.events();
    manager.track(said("a", [{ type: "text", text: "Looking." }]));
    manager.track(said("a", [{ type: "tool_use", name: "Bash" }]));
    for (const odd of [said(undefined, [{ type: "text", text: "main" }]), said("x", []), said("a", 5)])
      manager.track(odd);
    expect(manager.get("a").lastText).toBe("Looking.");
    manager.track(notified("a", "1"));
    manager.track(said("a", [{ type: "text", text: "too late" }]));
    manager.close();
    const texts = (await collect(events)).flatMap((event) => (event.type === "task.text" ? [event.text] : []));
    expect(texts).toEqual(["Looking."]);
  });
});
