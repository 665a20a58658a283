/**
 * The life of a task on the real OpenCode, under both sets of tool names: launch, end, result, progress, cancel,
 * resume, list, clear.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { call, calls, fail, gate, say } from "../../src/testing/models/script.ts";
import { World } from "./world.ts";

for (const prefix of ["asyncagents", "background"]) {
  const cite = (asyncagents: string, background: string) => `[${prefix === "background" ? background : asyncagents}]`;

  describe(`with ${prefix}_* tools`, () => {
    let world: World;
    beforeAll(async () => {
      world = await World.start({ options: { toolPrefix: prefix } });
    });
    afterAll(() => world?.stop());

    test(`a launch creates a running task with its parent's session and message ${cite("AT-01.1", "BT-01.1")}`, async () => {
      const parent = await world.parent();
      const [first, second] = await parent.launchAll([[gate(`${prefix}-launch`), say("one")], [say("two")]]);
      const task = await world.task(first ?? "");
      expect(first).not.toBe(second);
      expect(task.status).toBe("running");
      expect(task.parentSessionId).toBe(parent.sessionId);
      expect(task.parentAgent).toBe("build");
      const messages = await world.opencode.messages(parent.sessionId);
      const calling = messages.find((message) => message.info.id === task.parentMessageId);
      expect(calling?.parts.filter((part) => part.type === "tool").length).toBe(2);
      world.model.gate(`${prefix}-launch`).open();
      await world.ended(task.id);
    });

    test(`a new task has resumeCount 0 ${cite("AT-07.2", "BT-07.2")}`, async () => {
      const parent = await world.parent();
      const id = await parent.launch([say("x")]);
      expect((await world.task(id)).run.number).toBe(0);
      await world.ended(id);
    });

    test(`an end is recorded with its time and its result ${cite("AT-02.1", "BT-02.1")}`, async () => {
      const parent = await world.parent();
      const id = await parent.launch([say("the whole answer")]);
      const task = await world.ended(id);
      expect(task.status).toBe("completed");
      expect(task.completedAt).toBeGreaterThanOrEqual(task.startedAt);
      expect(task.run.result).toBe("the whole answer");
    });

    test(`a failure is recorded with what went wrong ${cite("AT-02.2", "BT-02.2")}`, async () => {
      const parent = await world.parent();
      const id = await parent.launch([fail(400, "the provider says no")]);
      const task = await world.ended(id);
      expect(task.status).toBe("error");
      expect(task.run.error).toContain("the provider says no");
      expect(await parent.ask("output", { task_id: id })).toContain("the provider says no");
    });

    test(`a running task is cancelled and its work stops ${cite("AT-02.3", "BT-02.3")}`, async () => {
      const parent = await world.parent();
      const name = `${prefix}-cancel`;
      const id = await parent.launch([
        gate(name),
        call("bash", { command: "echo never", description: "x" }),
        say("never"),
      ]);
      await world.model.gate(name).reached;
      expect(await parent.ask("cancel", { task_id: id })).toContain("cancelled");
      expect((await world.task(id)).status).toBe("cancelled");
      const before = world.model.requestsOf(id).length;
      world.model.gate(name).open();
      await world.opencode.waitIdle(id);
      expect(world.model.requestsOf(id).length).toBe(before);
      expect((await world.task(id)).status).toBe("cancelled");
    });

    test(`a resumed task is "resumed" while it works and "completed" afterwards ${cite("AT-02.4", "BT-02.4")}`, async () => {
      const parent = await world.parent();
      const id = await parent.launch([say("first")]);
      await world.ended(id);
      const name = `${prefix}-resumed`;
      await parent.ask("task", { resume: id, prompt: `${world.script(gate(name), say("second"))} more` });
      expect((await world.task(id)).status).toBe("resumed");
      world.model.gate(name).open();
      const task = await world.ended(id);
      expect(task.status).toBe("completed");
      expect(task.run.result).toBe("second");
    });

    test(`the result is returned immediately and its retrieval is recorded ${cite("AT-03.1", "BT-03.1")}`, async () => {
      const parent = await world.parent();
      const id = await parent.launch([say("the stored result")]);
      expect((await world.ended(id)).resultRetrievedAt).toBeNull();
      expect(await parent.ask("output", { task_id: id })).toContain("the stored result");
      expect((await world.task(id)).resultRetrievedAt).toBeGreaterThan(0);
    });

    test(`the output of a running task returns its state and progress immediately ${cite("AT-03.2", "BT-03.2")}`, async () => {
      const parent = await world.parent();
      const name = `${prefix}-output`;
      const id = await parent.launch([call("read", { filePath: "README.md" }), gate(name), say("done")]);
      await world.until(id, (task) => task.progress.toolCalls === 1, "a tool call");
      const answer = await parent.ask("output", { task_id: id });
      expect(answer).toContain("running, working");
      expect(answer).toContain("1 tool calls (last: read)");
      expect((await world.task(id)).resultRetrievedAt).toBeNull();
      world.model.gate(name).open();
      await world.ended(id);
    });

    test(`progress counts calls by name and the last tools, with the time of the last activity ${cite("AT-04.1", "BT-04.1")}`, async () => {
      const parent = await world.parent();
      const name = `${prefix}-progress`;
      const read = { name: "read", input: { filePath: "README.md" } };
      const id = await parent.launch([calls([read, read]), call("glob", { pattern: "*.md" }), gate(name), say("done")]);
      const task = await world.until(id, (now) => now.progress.toolCalls === 3, "three calls");
      expect(task.progress.toolCallsByName).toEqual({ read: 2, glob: 1 });
      const answer = await parent.ask("output", { task_id: id });
      expect(answer).toContain("3 tool calls (last: read, read, glob)");
      expect(answer).toContain(`last update ${new Date(task.progress.lastUpdate).toISOString().slice(0, 16)}`);
      world.model.gate(name).open();
      const ended = await world.ended(id);
      expect(ended.progress.tokens.output).toBeGreaterThan(0);
      expect(ended.progress.toolCalls).toBe(3);
    });

    test(`tasks of one message share a batch, which can be cancelled as a whole ${cite("AT-05.1", "BT-05.1")}`, async () => {
      const parent = await world.parent();
      const name = `${prefix}-batch`;
      const together = await parent.launchAll([
        [gate(name), say("a")],
        [gate(name), say("b")],
      ]);
      const other = await parent.launch([gate(name), say("c")], { batch: "other" });
      const [a, b] = await Promise.all(together.map((id) => world.task(id)));
      expect(a?.batchId).toBe(b?.batchId ?? "");
      expect((await world.task(other)).batchId).not.toBe(a?.batchId ?? "");
      await parent.ask("cancel", { batch: a?.batchId });
      for (const id of together) expect((await world.task(id)).status).toBe("cancelled");
      expect((await world.task(other)).status).toBe("running");
      world.model.gate(name).open();
      await world.ended(other);
    });

    test(`a resume goes to the same session with its full history and returns immediately ${cite("AT-06.1", "BT-06.1")}`, async () => {
      const parent = await world.parent();
      const id = await parent.launch([call("read", { filePath: "README.md" }), say("first answer")]);
      await world.ended(id);
      const name = `${prefix}-history`;
      const answer = await parent.ask("task", {
        resume: id,
        prompt: `${world.script(gate(name), say("ok"))} and now?`,
      });
      expect(answer).toContain(id);
      expect((await world.task(id)).status).toBe("resumed");
      const request = await world.model.waitForRequest(
        (seen) => seen.sessionId === id && seen.request.lastUserText.includes("and now?"),
      );
      const history = JSON.stringify(request.request.messages);
      expect(history).toContain("first answer");
      expect(history).toContain("work");
      expect(request.request.toolResults("read").length).toBe(1);
      world.model.gate(name).open();
      await world.ended(id);
    });

    test(`block waits for the answer of a resume ${cite("AT-06.2", "BT-06.3")}`, async () => {
      const parent = await world.parent();
      const id = await parent.launch([say("first")]);
      await world.ended(id);
      const name = `${prefix}-block`;
      await parent.ask("task", { resume: id, prompt: `${world.script(gate(name), say("the awaited answer"))} more` });
      const waiting = parent.ask("output", { task_id: id, block: true });
      await world.opencode.waitForEventOf(
        "message.part.updated",
        ({ part }) =>
          part.sessionID === parent.sessionId &&
          part.type === "tool" &&
          part.state.status === "running" &&
          part.tool.endsWith("_output") &&
          part.state.input.block === true,
      );
      expect((await world.task(id)).status).toBe("resumed");
      world.model.gate(name).open();
      expect(await waiting).toContain("the awaited answer");
    });

    test(`a task whose session is gone cannot be resumed, and the answer says what to do ${cite("AT-06.3", "BT-06.6")}`, async () => {
      const parent = await world.parent();
      const id = await parent.launch([say("x")]);
      await world.ended(id);
      await world.opencode.deleteSession(id);
      const answer = await parent.ask("task", { resume: id, prompt: "again" });
      expect(answer).toContain("no longer exists");
      expect(answer).toContain(`Start a new ${prefix}_task`);
      expect((await world.task(id)).status).toBe("completed");
    });

    test(`each resume counts one ${cite("AT-07.1", "BT-07.1")}`, async () => {
      const parent = await world.parent();
      const id = await parent.launch([say("x")]);
      for (const count of [1, 2]) {
        await world.ended(id);
        await parent.ask("task", { resume: id, prompt: `${world.script(say("y"))} again` });
        expect((await world.task(id)).run.number).toBe(count);
      }
      await world.ended(id);
    });

    test(`the list marks resumed tasks after their id ${cite("AT-09.1", "BT-09.1")}`, async () => {
      const parent = await world.parent();
      const id = await parent.launch([say("x")]);
      await world.ended(id);
      await parent.ask("task", { resume: id, prompt: `${world.script(say("y"))} again` });
      await world.ended(id);
      expect(await parent.ask("list")).toContain(`${id} (resumed)`);
    });

    test(`the list shows other tasks without a mark ${cite("AT-09.3", "BT-09.2")}`, async () => {
      const parent = await world.parent();
      const id = await parent.launch([say("x")]);
      await world.ended(id);
      const listed = await parent.ask("list");
      expect(listed).toContain(`${id} | completed`);
      expect(listed).not.toContain("(resumed)");
      expect(listed).not.toContain("(forked)");
    });

    test(`a completed task stays until it is cleared ${cite("AT-03.3", "BT-03.3")}`, async () => {
      const parent = await world.parent();
      const id = await parent.launch([say("kept")]);
      await world.ended(id);
      expect(await parent.ask("output", { task_id: id })).toContain("kept");
      expect(await parent.ask("list")).toContain(id);
      await parent.ask("clear");
      expect(await parent.ask("list")).toBe("No background tasks found");
    });

    test(`the end of a session's work completes its task and sends the parent the whole result ${cite("AT-08.1", "BT-08.1")}`, async () => {
      const parent = await world.parent();
      const id = await parent.launch([say("everything that was found")]);
      const notice = await parent.notice(id);
      expect((await world.task(id)).status).toBe("completed");
      expect(notice.visible).toMatch(/^✓ \*\*Agent "task 1" finished in /);
      expect(notice.hidden).toContain("everything that was found");
      await world.opencode.waitIdle(parent.sessionId);
      expect(parent.turnsOf(notice)).toBe(1);
    });
  });
}
