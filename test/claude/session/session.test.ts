import { afterEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { ResultMessage } from "../../../src/claude/messages/message-schemas.ts";
import type { TaskOutcome } from "../../../src/claude/tasks/task-run.ts";
import { call, calls, fail, gate, pause, say } from "../../../src/testing/models/script.ts";
import { agentInput, claudeBed, closeBeds, collect, follow, isAlive, nextEvent } from "../claude-bed.ts";

setDefaultTimeout(60_000);
afterEach(closeBeds);

const shell = (command: string) => ({
  name: "Bash",
  input: { command, description: "a shell", run_in_background: true },
});

describe("a session with a prompt", () => {
  test("needs agents and a loop, no task code, and ends when all is done [CT-19, CT-15, CT-23]", async () => {
    const { model, open } = await claudeBed();
    model.script("main", [
      call("Agent", agentInput("child", { subagent_type: "analyzer" })),
      say("begun"),
      say("noted"),
    ]);
    // Longer than the session would last if the first result were its end.
    model.script("child", [gate("door"), pause(500), say("the answer is 42")]);
    const claude = await open({
      prompt: follow("main"),
      agents: { analyzer: { description: "Analyzes data", prompt: "You analyze." } },
    });
    const kinds: string[] = [];
    const results: (string | undefined)[] = [];
    let notification: unknown;
    for await (const message of claude) {
      if (message.type === "result") {
        results.push((message as ResultMessage).result);
        // The first result is not the end: only now may the agent continue.
        model.gate("door").open();
      }
      if (message.type === "system") kinds.push(message.subtype);
      if (message.type === "system" && message.subtype === "task_notification") notification = message;
    }
    expect(results).toEqual(["begun", "noted"]);
    expect(kinds.filter((kind) => kind === "task_notification")).toHaveLength(1);
    expect(notification).toMatchObject({ status: "completed", summary: "the answer is 42" });
    expect(isAlive(claude.pid)).toBe(false);
    expect(claude.tasks.list().map((task) => [task.agentType, task.status()])).toEqual([["analyzer", "completed"]]);
  });

  test("ends with an error for its readers when the process dies, and for later readers too", async () => {
    const { model, open } = await claudeBed();
    model.script("main", [gate("never"), say("no")]);
    const claude = await open({ prompt: follow("main") });
    await model.gate("never").reached;
    process.kill(claude.pid ?? 0, "SIGKILL");
    for (const _reader of [1, 2]) {
      const failure = await collect(claude).catch((thrown) => thrown);
      expect([failure.code, failure.message]).toEqual(["host_failed", expect.stringContaining("SIGKILL")]);
    }
    const sent = await claude.send("more").catch((thrown) => thrown);
    expect(sent.code).toBe("host_unavailable");
  });
});

describe("the notification handler", () => {
  test("is called once for each background task that ends, whatever it throws [CT-16]", async () => {
    const { model, open } = await claudeBed();
    model.script("main", [
      calls([
        { name: "Agent", input: agentInput("good") },
        { name: "Agent", input: agentInput("bad") },
        { name: "Agent", input: agentInput("held") },
        shell("echo out"),
        { name: "Agent", input: agentInput("waited", { run_in_background: false }) },
      ]),
      say("begun"),
      ...Array.from({ length: 6 }, (_, i) => say(`noted ${i}`)),
    ]);
    model.script("good", [say("good")]);
    model.script("bad", [fail(400, "refused")]);
    model.script("held", [gate("never"), say("no")]);
    model.script("waited", [say("waited for")]);
    const told: TaskOutcome[] = [];
    const claude = await open({
      onTaskNotification(outcome) {
        told.push(outcome);
        throw new Error("a handler of somebody");
      },
    });
    const events = claude.tasks.events();
    await claude.send(follow("main"));
    const tasks = claude.tasks.list();
    const held = tasks.find((task) => task.description === "Job held");
    await held?.cancel();
    await Promise.all(tasks.map((task) => task.wait()));
    await claude.close({ wait: 10_000 });
    const words = tasks.map((task) => [task.description, task.isBackground, task.status()].join(" "));
    expect(words.sort()).toEqual([
      "Job bad true failed",
      "Job good true completed",
      "Job held true stopped",
      "Job waited false completed",
      "a shell true completed",
    ]);
    expect(told.map(({ status }) => status).sort()).toEqual(["completed", "completed", "failed", "stopped"]);
    expect(new Set(told.map(({ taskId }) => taskId)).size).toBe(4);
    const seen = await collect(events);
    expect(seen.filter(({ type }) => type === "handler.failed")).toHaveLength(4);
    expect(seen.filter(({ type }) => type === "task.ended")).toHaveLength(5);
  });
});

describe("a task's handle", () => {
  test("cancels only its own task [CT-21]", async () => {
    const { model, open } = await claudeBed();
    model.script("main", [
      calls([
        { name: "Agent", input: agentInput("one") },
        { name: "Agent", input: agentInput("two") },
        shell("echo begun; sleep 300"),
      ]),
      say("begun"),
      ...Array.from({ length: 4 }, (_, i) => say(`noted ${i}`)),
    ]);
    model.script("one", [gate("one"), say("one is done")]);
    model.script("two", [gate("two"), say("two is done")]);
    const claude = await open();
    await claude.send(follow("main"));
    const [one, two, three] = claude.tasks.list();
    await Promise.all([model.gate("one").reached, model.gate("two").reached]);
    expect(await one?.cancel()).toMatchObject({ taskId: one?.id, status: "stopped" });
    expect(await one?.cancel()).toMatchObject({ status: "stopped" });
    expect(await three?.cancel()).toMatchObject({ status: "stopped" });
    expect(two?.status()).toBe("");
    model.gate("two").open();
    expect(await two?.wait()).toMatchObject({ status: "completed", summary: "two is done" });
    expect(two?.usage()?.total_tokens).toBeGreaterThan(0);
  });

  test("continues an agent: the same id, another run, and its earlier knowledge", async () => {
    const { model, open } = await claudeBed();
    model.script("main", [call("Agent", agentInput("child")), say("begun"), say("noted")]);
    model.script("child", [say("first")]);
    const claude = await open();
    await claude.send(follow("main"));
    const [task] = claude.tasks.list();
    if (!task) throw new Error("There is no task.");
    await task.wait();
    const firstRun = task.runId;
    model.script("again", [
      call("SendMessage", { to: task.id, message: follow("second") }),
      say("handed on"),
      say("noted again"),
    ]);
    model.script("second", [say("second")]);
    // The script plays a model that follows its instructions.
    expect(await task.resume(follow("again"))).toBe(task);
    expect(await task.wait()).toMatchObject({ taskId: task.id, status: "completed", summary: "second" });
    expect(task.runId).not.toBe(firstRun);
    const messages = await task.messages();
    expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "user", "assistant"]);
    // Claude tells the agent who sent the message, followed by the unchanged text.
    expect(messages[2]?.text).toContain(follow("second"));
    expect(await task.readOutput()).toBe("first\n\nsecond");
    expect(model.requestsOf(claude.sessionId ?? "").map(({ request }) => request.lastUserText)).toContainEqual(
      expect.stringContaining(`to: "${task.id}"`),
    );
  });

  test("reports when Claude does not continue the agent, and rejects while it runs", async () => {
    const { model, open } = await claudeBed();
    model.script("main", [call("Agent", agentInput("child")), say("begun"), say("noted")]);
    model.script("child", [gate("door"), say("first")]);
    const claude = await open();
    await claude.send(follow("main"));
    const [task] = claude.tasks.list();
    const early = await task?.resume("now").catch((thrown) => thrown);
    expect(early.code).toBe("task_running");
    model.gate("door").open();
    await task?.wait();
    model.script("no", [say("I would rather not.")]);
    const refused = await task?.resume(follow("no")).catch((thrown) => thrown);
    expect([refused.code, refused.message]).toEqual(["host_failed", expect.stringContaining("rather not")]);
  });

  test("reads an agent's text and a shell's output to the last line [CT-14]", async () => {
    const { model, open } = await claudeBed();
    model.script("main", [
      calls([{ name: "Agent", input: agentInput("child") }, shell("echo one; sleep 0.3; echo two >&2; exit 3")]),
      say("begun"),
      say("noted"),
      say("noted"),
    ]);
    model.script("child", [call("Bash", { command: "echo hidden", description: "x" }, "Looking."), say("Found it.")]);
    const claude = await open();
    await claude.send(follow("main"));
    const [agent, command] = claude.tasks.list();
    expect(await agent?.wait()).toMatchObject({ status: "completed" });
    expect(await command?.wait()).toMatchObject({ status: "failed" });
    expect(await agent?.readOutput()).toBe("Looking.\n\nFound it.");
    expect(await command?.readOutput()).toBe("one\ntwo\n\n[exited with code 3]\n");
    const failure = await command?.messages().catch((thrown) => thrown);
    expect(failure.code).toBe("host_unsupported");
  });
});

test("leaving the loop over the messages ends nothing, and an interrupt does not stop the tasks", async () => {
  const { model, open } = await claudeBed();
  model.script("main", [call("Agent", agentInput("child")), gate("turn"), say("begun"), say("noted")]);
  model.script("child", [gate("door"), say("done")]);
  const claude = await open();
  const events = claude.tasks.events();
  const turn = claude.send(follow("main"));
  for await (const message of claude) if (message.type === "system" && message.subtype === "task_started") break;
  const { task } = await nextEvent(events, "task.started");
  await Promise.all([model.gate("door").reached, model.gate("turn").reached]);
  await claude.interrupt();
  expect((await turn).is_error).toBe(true);
  model.gate("turn").open();
  expect(task.status()).toBe("");
  model.gate("door").open();
  expect((await task.wait()).status).toBe("completed");
});
