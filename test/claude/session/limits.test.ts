import { afterEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { programOutput } from "../../../scripts/program-output.ts";
import { ClaudeTimeoutError, TaskTimeoutError } from "../../../src/claude/errors.ts";
import { openClaude } from "../../../src/claude/session/open-claude.ts";
import type { Task } from "../../../src/claude/tasks/task.ts";
import { TaskManager } from "../../../src/claude/tasks/task-manager.ts";
import type { WaitOptions } from "../../../src/process/deadline.ts";
import { call, gate, say } from "../../../src/testing/models/script.ts";
import { agentInput, type ClaudeBed, claudeBed, closeBeds, follow, isAlive } from "../claude-bed.ts";
import { notified, started } from "../messages/sample-messages.ts";

setDefaultTimeout(60_000);
afterEach(closeBeds);

const aborted = () => AbortSignal.abort(new Error("given up"));
const failureOf = (work: Promise<unknown>) => work.then(() => "no failure").catch((thrown) => thrown);

/** Fails after the time that a limit of 300 ms may take on a busy machine. */
async function soon<Value>(work: Promise<Value>): Promise<Value> {
  const late = Bun.sleep(8_000).then(() => Promise.reject(new Error("The limit was not kept.")));
  return Promise.race([work, late]);
}

describe("limits that are invalid or exceeded before a call", () => {
  const calls: [string, (task: Task, options: WaitOptions) => Promise<unknown>, status: "live" | "ended"][] = [
    ["wait", (task, options) => task.wait(options), "live"],
    ["cancel", (task, options) => task.cancel(options), "live"],
    ["resume", (task, options) => task.resume("more", options), "ended"],
    ["readOutput", (task, options) => task.readOutput(options), "ended"],
    ["messages", (task, options) => task.messages(options), "ended"],
  ];

  test.each(calls)("%s does nothing and rejects", async (_name, act, status) => {
    const asked: string[] = [];
    const manager = new TaskManager({
      control: { stopTask: async (id) => void asked.push(`stop ${id}`), send: (text) => asked.push(text) },
    });
    manager.track(started("a", "1"));
    if (status === "ended") manager.track(notified("a", "1"));
    const task = manager.get("a");
    expect(await soon(failureOf(act(task, { signal: aborted() })))).toMatchObject({ message: "given up" });
    for (const timeout of [Number.NaN, -1]) {
      expect(await soon(failureOf(act(task, { timeout })))).toMatchObject({ code: "invalid_input" });
    }
    expect(asked).toEqual([]);
    manager.close();
  });

  test("send and openClaude do nothing and reject", async () => {
    const { model, open } = await claudeBed();
    const claude = await open();
    for (const options of [{ signal: aborted() }, { timeout: -1 }]) {
      expect(await soon(failureOf(claude.send("hello", options)))).toBeInstanceOf(Error);
      expect(await soon(failureOf(claude.interrupt(options)))).toBeInstanceOf(Error);
      expect(await soon(failureOf(openClaude({}, options)))).toBeInstanceOf(Error);
    }
    model.script("main", [say("heard")]);
    expect((await claude.send(follow("main"))).result).toBe("heard");
    expect(model.requestsOf(claude.sessionId ?? "")).toHaveLength(1);
  });
});

test("an abandoned resume leaves nothing behind that could crash the program", async () => {
  const library = (file: string) => JSON.stringify(join(import.meta.dir, "../../../src/claude", file));
  const message = (subtype: string, more: object) => ({
    type: "system",
    subtype,
    uuid: subtype,
    session_id: "s",
    task_id: "a",
    run_id: "1",
    ...more,
  });
  const program = `
    import { TaskManager } from ${library("tasks/task-manager.ts")};
    const manager = new TaskManager({ control: { stopTask: async () => {}, send: async () => ({ result: "no" }) } });
    manager.track(${JSON.stringify(message("task_started", { description: "d", task_type: "local_agent" }))});
    manager.track(${JSON.stringify(message("task_notification", { status: "completed", summary: "", output_file: "" }))});
    const failures = [];
    for (const options of [{ timeout: 50 }, { signal: AbortSignal.timeout(50) }, { timeout: Number.NaN }]) {
      await manager.get("a").resume("more", options).catch((error) => failures.push(error.name));
    }
    await new Promise((resolve) => setTimeout(resolve, 2_300));
    console.log(failures.join(" "));
  `;
  const said = await programOutput([process.execPath, "-e", program]);
  expect(said).toEqual({ code: 0, out: "TaskTimeoutError TimeoutError AsyncAgentsError\n", err: "" });
});

describe("a frozen Claude", () => {
  test("keeps no call waiting beyond its limits, and can be closed", async () => {
    const { model, open } = await claudeBed();
    model.script("main", [call("Agent", agentInput("child")), say("begun"), gate("turn"), say("noted")]);
    model.script("child", [gate("door"), say("done")]);
    const claude = await open();
    await claude.send(follow("main"));
    const [task] = claude.tasks.list();
    if (!task) throw new Error("There is no task.");
    await model.gate("door").reached;
    process.kill(claude.pid ?? 0, "SIGSTOP");
    const given = { timeout: 300 };
    expect(await soon(failureOf(claude.send("hello", given)))).toBeInstanceOf(ClaudeTimeoutError);
    expect(await soon(failureOf(claude.interrupt(given)))).toBeInstanceOf(ClaudeTimeoutError);
    expect(await soon(failureOf(task.cancel(given)))).toBeInstanceOf(TaskTimeoutError);
    const signal = () => ({ signal: AbortSignal.timeout(300) });
    for (const act of [claude.send("hello", signal()), claude.interrupt(signal()), task.cancel(signal())]) {
      expect(await soon(failureOf(act))).toMatchObject({ name: "TimeoutError" });
    }
    expect(task.status()).toBe("");
    await soon(claude.close({ wait: Number.NaN }));
    expect([isAlive(claude.pid), task.status()]).toEqual([false, "lost"]);
  });

  /** A program that reads everything and writes nothing. */
  function silent({ home }: ClaudeBed): { path: string; pids: () => string } {
    const path = join(home.root, "silent-claude");
    const mark = `300.${process.pid}${Math.floor(performance.now())}`;
    writeFileSync(path, `#!/bin/sh\nexec sleep ${mark}\n`, { mode: 0o755 });
    return { path, pids: () => Bun.spawnSync(["pgrep", "-f", `sleep ${mark}`]).stdout.toString() };
  }

  test.each<[string, (options: object) => Promise<unknown>, object]>([
    ["timeout", (options) => openClaude(options, { timeout: 300 }), { name: "ClaudeTimeoutError", timeout: 300 }],
    ["signal", (options) => openClaude(options, { signal: AbortSignal.timeout(300) }), { name: "TimeoutError" }],
    [
      "abortController",
      (options) => {
        const abortController = new AbortController();
        setTimeout(() => abortController.abort(new Error("given up")), 300);
        return openClaude({ ...options, abortController });
      },
      { message: "given up" },
    ],
  ])("while it starts is abandoned through its %s, and no process is left", async (_how, open, expected) => {
    const bed = await claudeBed();
    const { path, pids } = silent(bed);
    const options = { cwd: bed.home.directory, env: bed.home.environment, pathToClaudeCodeExecutable: path };
    expect(await soon(failureOf(open(options)))).toMatchObject(expected);
    expect(pids()).toBe("");
  });
});

test("an abort while a real Claude starts always rejects, and no process is left", async () => {
  const { open, home } = await claudeBed();
  for (const ms of [0, 30, 120, 250]) {
    const abortController = new AbortController();
    const opening = failureOf(open({ abortController }));
    await Bun.sleep(ms);
    const reason = new Error(`after ${ms} ms`);
    abortController.abort(reason);
    expect(await soon(opening)).toBe(reason);
  }
  const left = Bun.spawnSync([
    "sh",
    "-c",
    `grep -lz 'CLAUDE_CONFIG_DIR=${home.root}' /proc/[0-9]*/environ 2>/dev/null`,
  ]);
  expect(left.stdout.toString()).toBe("");
});
