import { afterAll, expect, test } from "bun:test";
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Task } from "../../../src/claude/tasks/task.ts";
import { TaskManager } from "../../../src/claude/tasks/task-manager.ts";
import { notified, started } from "../messages/sample-messages.ts";

const folder = mkdtempSync(join(tmpdir(), "asyncagents-output-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let made = 0;

/** An ended task and the path of its output, which does not exist yet. */
function ended(fields: Record<string, unknown>, summary = ""): { task: Task; path: string } {
  const path = join(folder, `${made++}.output`);
  const manager = new TaskManager();
  manager.track(started("t", "1", fields));
  manager.track(notified("t", "1", { output_file: path, summary }));
  return { task: manager.get("t"), path };
}

const shell = { task_type: "local_bash", subagent_type: undefined };
const line = (role: string, text: string) =>
  `${JSON.stringify({ type: role, uuid: text, message: { role, content: [{ type: "text", text }] } })}\n`;

test("a file that appears late, and its last line even later, is read to the end", async () => {
  const { task, path } = ended(shell);
  const reading = task.readOutput();
  setTimeout(() => writeFileSync(path, ""), 60);
  setTimeout(() => appendFileSync(path, "out\n"), 120);
  setTimeout(() => appendFileSync(path, "\n[exited with code 0]\n"), 300);
  expect(await reading).toBe("out\n\n[exited with code 0]\n");
});

test("an agent's last message is awaited", async () => {
  const { task, path } = ended({}, "the end");
  writeFileSync(path, line("user", "go") + line("assistant", "looking"));
  const reading = task.readOutput();
  setTimeout(() => appendFileSync(path, `${line("assistant", "the end")}{"type":"assis`), 150);
  expect(await reading).toBe("looking\n\nthe end");
  expect((await task.messages()).map(({ role, text }) => [role, text])).toEqual([
    ["user", "go"],
    ["assistant", "looking"],
    ["assistant", "the end"],
  ]);
});

test.each(["missing", "empty"])("a file that stays %s is an error that says so, within a time limit", async (state) => {
  const { task, path } = ended(shell);
  if (state === "empty") writeFileSync(path, "");
  const failure = await task.readOutput({ timeout: 120 }).catch((thrown) => thrown);
  expect([failure.code, failure.name, failure.taskId]).toEqual(["output_missing", "TaskOutputError", "t"]);
  expect(failure.message).toContain(state === "empty" ? "is empty" : "cannot be read");
  expect(failure.message).toContain(path);
});

test.each(["live", "lost"])("the output of a %s shell is returned at once", async (state) => {
  const path = join(folder, "tasks", `b${made++}.output`);
  const [id = ""] = /b\d+(?=\.output)/.exec(path) ?? [];
  const manager = new TaskManager();
  manager.track(started(id, "1", shell));
  const content = `Command running in background with ID: ${id}. Output is being written to: ${path}.`;
  manager.track({ type: "user", message: { content: [{ type: "tool_result", tool_use_id: `toolu_${id}`, content }] } });
  mkdirSync(join(folder, "tasks"), { recursive: true });
  writeFileSync(path, "so far");
  if (state === "lost") manager.processEnded("killed");
  const began = performance.now();
  expect(await manager.get(id).readOutput()).toBe("so far");
  expect(performance.now() - began).toBeLessThan(1_500);
  manager.close();
});

test("a signal ends the read", async () => {
  const { task } = ended(shell);
  const failure = await task.readOutput({ signal: AbortSignal.timeout(60) }).catch((thrown) => thrown);
  expect(failure.name).toBe("TimeoutError");
});

test("a task without a file says when there will be one", async () => {
  const manager = new TaskManager();
  manager.track(started("t", "1"));
  const failure = await manager
    .get("t")
    .readOutput()
    .catch((thrown) => thrown);
  expect(failure.message).toContain("wait() first");
  manager.close();
});
