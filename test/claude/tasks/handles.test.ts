import { afterEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Task } from "../../../src/claude/tasks/task.ts";
import { call, calls, gate, say } from "../../../src/testing/models/script.ts";
import { agentInput, type ClaudeBed, claudeBed, closeBeds, collect, follow, nextEvent } from "../claude-bed.ts";

setDefaultTimeout(60_000);
afterEach(closeBeds);

const shell = (command: string) => ({
  name: "Bash",
  input: { command, description: "a shell", run_in_background: true },
});
const noted = (count: number) => Array.from({ length: count }, () => say("noted"));

/** Makes the next turn continue the task: the script plays a model that follows its instructions. */
function continued({ model }: ClaudeBed, task: Task, text: string): string {
  model.script("again", [call("SendMessage", { to: task.id, message: follow("more") }), ...noted(2)]);
  model.script("more", [say(text)]);
  return follow("again");
}

describe("the output of a shell", () => {
  test("can be read while it runs, and after it was lost", async () => {
    const { model, open } = await claudeBed();
    model.script("main", [calls([shell("echo one; sleep 300")]), ...noted(2)]);
    const claude = await open();
    await claude.send(follow("main"));
    const [task] = claude.tasks.list();
    if (!task) throw new Error("There is no task.");
    let output = "";
    for (const end = Date.now() + 10_000; output === "" && Date.now() < end; await Bun.sleep(20)) {
      output = await task.readOutput();
    }
    expect([output, task.status()]).toEqual(["one\n", ""]);
    process.kill(claude.pid ?? 0, "SIGKILL");
    expect((await task.wait()).status).toBe("lost");
    expect(await task.readOutput()).toBe("one\n");
  });
});

describe("a handle", () => {
  test("continues its task after the manager dropped it", async () => {
    const bed = await claudeBed();
    bed.model.script("main", [call("Agent", agentInput("child")), ...noted(2)]);
    bed.model.script("child", [gate("door"), say("first")]);
    const claude = await bed.open({ tasks: { keepEnded: 0 } });
    await claude.send(follow("main"));
    const [task] = claude.tasks.list();
    if (!task) throw new Error("There is no task.");
    bed.model.gate("door").open();
    expect((await task.wait()).summary).toBe("first");
    expect(claude.tasks.list()).toEqual([]);
    await task.resume(continued(bed, task, "second"));
    expect((await task.wait()).summary).toBe("second");
  });

  test("works again in another process, with the outcome, the output and a way to continue", async () => {
    const bed = await claudeBed();
    const file = join(bed.home.root, "tasks.json");
    bed.model.script("main", [
      calls([
        { name: "Agent", input: agentInput("done") },
        { name: "Agent", input: agentInput("held") },
      ]),
      ...noted(3),
    ]);
    bed.model.script("done", [say("first")]);
    bed.model.script("held", [gate("never"), say("no")]);
    const before = await bed.open();
    await before.send(follow("main"));
    const [done, held] = before.tasks.list();
    await done?.wait();
    // Claude writes the last line after it has reported the end; killed before that, it never does.
    expect(await done?.readOutput()).toBe("first");
    writeFileSync(file, JSON.stringify(before.tasks.save()));
    process.kill(before.pid ?? 0, "SIGKILL");
    await held?.wait();

    const told: string[] = [];
    const after = await bed.open({
      resume: before.sessionId,
      tasks: { saved: JSON.parse(readFileSync(file, "utf8")) },
      onTaskNotification: ({ taskId, status }) => told.push(`${taskId} ${status}`),
    });
    const task = after.tasks.get(done?.id ?? "");
    expect(task.poll()).toEqual(done?.poll());
    expect([task.description, await task.readOutput()]).toEqual(["Job done", "first"]);
    await task.resume(continued(bed, task, "second"));
    expect(await task.wait()).toMatchObject({ taskId: done?.id, status: "completed", summary: "second" });
    // Claude reports at the first turn that running tasks were stopped.
    expect((await after.tasks.wait(held?.id ?? "")).status).toBe("stopped");
    expect(told.sort()).toEqual([`${done?.id} completed`, `${held?.id} stopped`].sort());
  });

  test("shows its agent's texts while it works, and the tokens by model", async () => {
    const { model, open } = await claudeBed();
    model.script("main", [call("Agent", agentInput("child")), ...noted(2)]);
    model.script("child", [
      call("Bash", { command: "true", description: "x" }, "Looking."),
      gate("door"),
      say("Found it."),
    ]);
    const claude = await open({ forwardSubagentText: true });
    const events = claude.tasks.events();
    await claude.send(follow("main"));
    const { task, text } = await nextEvent(events, "task.text");
    expect([text, task.lastText, task.status()]).toEqual(["Looking.", "Looking.", ""]);
    await model.gate("door").reached;
    model.gate("door").open();
    expect((await nextEvent(events, "task.text")).text).toBe("Found it.");
    await task.wait();
    await task.readOutput();
    const tokens = Object.entries(await task.tokens());
    expect(tokens).toEqual([
      [expect.stringContaining("claude-"), { input: 200, output: 40, cacheRead: 0, cacheWrite: 0 }],
    ]);
  });

  test("cancels all descendants of its agent, and nothing else", async () => {
    const { model, open } = await claudeBed();
    model.script("main", [
      calls([
        { name: "Agent", input: agentInput("top") },
        { name: "Agent", input: agentInput("other") },
      ]),
      ...noted(5),
    ]);
    model.script("top", [call("Agent", agentInput("middle")), gate("top"), say("no")]);
    model.script("middle", [calls([{ name: "Agent", input: agentInput("low") }]), gate("middle"), say("no")]);
    model.script("low", [gate("low"), say("no")]);
    model.script("other", [gate("other"), say("other is done")]);
    const claude = await open();
    await claude.send(follow("main"));
    await Promise.all(["top", "middle", "low", "other"].map((name) => model.gate(name).reached));
    const tasks = new Map(claude.tasks.list().map((task) => [task.description, task]));
    const outcomes = await tasks.get("Job top")?.cancelTree();
    expect(outcomes?.map(({ taskId, status }) => [claude.tasks.get(taskId).description, status])).toEqual([
      ["Job top", "stopped"],
      ["Job middle", "stopped"],
      ["Job low", "stopped"],
    ]);
    expect(tasks.get("Job other")?.status()).toBe("");
    model.gate("other").open();
    expect((await tasks.get("Job other")?.wait())?.summary).toBe("other is done");
  });
});

describe("a consumer that does not read", () => {
  test("costs a bounded number of bytes, and is told what was dropped", async () => {
    const { model, open } = await claudeBed();
    const text = "x".repeat(100_000);
    model.script("main", [say(text), say("short")]);
    const claude = await open({ messageBytes: 150_000 });
    await claude.send(follow("main"));
    await claude.send("more");
    await claude.close();
    const messages = await collect(claude);
    const [first] = messages;
    expect(first).toMatchObject({ type: "messages.dropped", count: expect.any(Number) });
    expect(first?.type === "messages.dropped" && first.bytes).toBeGreaterThan(100_000);
    expect(JSON.stringify(messages).length).toBeLessThan(200_000);
    expect(messages.at(-1)).not.toMatchObject({ type: "messages.dropped" });
    const results = messages.flatMap((message) =>
      message.type === "result" && "result" in message ? [message.result] : [],
    );
    expect(results.at(-1)).toBe("short");
  });
});
