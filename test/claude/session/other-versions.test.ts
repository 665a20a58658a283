import { afterEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { call, pause, say } from "../../../src/testing/models/script.ts";
import { agentInput, claudeBed, closeBeds, collect, follow, isAlive } from "../claude-bed.ts";
import { alteredCli } from "./altered-cli.ts";

setDefaultTimeout(60_000);
afterEach(closeBeds);

/** One background agent, whose end causes a turn, with a CLI that is altered this way. */
async function played(change: string) {
  const { model, home, open } = await claudeBed();
  model.script("main", [call("Agent", agentInput("child")), say("begun"), say("noted")]);
  model.script("child", [pause(300), say("the answer")]);
  const claude = await open({ prompt: follow("main"), pathToClaudeCodeExecutable: alteredCli(home, change) });
  const events = collect(claude.tasks.events());
  const messages = await collect(claude);
  const results = messages.flatMap((message) => (message.type === "result" ? [message] : []));
  return { claude, results, events: await events };
}

describe("a CLI of another version", () => {
  test("that reports less is followed to the end, and nothing hangs or gets lost", async () => {
    const { claude, results } = await played(`
      if (message.type === "result") {
        for (const field of ["total_cost_usd", "num_turns", "duration_ms", "is_error", "uuid"]) delete message[field];
        message.origin = 7;
      }
      for (const task of message.tasks ?? []) { delete task.task_type; delete task.description; }
      if (message.subtype === "task_progress") delete message.usage;
      if (message.subtype === "task_started") delete message.description;
      if (message.subtype === "init") { delete message.model; delete message.cwd; }
      return message;
    `);
    expect(results).toHaveLength(2);
    expect(claude.tasks.list().map((task) => task.poll())).toMatchObject([
      { status: "completed", summary: "the answer" },
    ]);
  });

  test.each([
    ["has another word for running", `message.state === "running"`],
    ["has another word for idle", `message.state === "idle"`],
  ])("that %s is followed to the end", async (_how, isAltered) => {
    const { claude, results, events } = await played(`
      if (message.subtype === "session_state_changed" && ${isAltered}) message.state = "of_tomorrow";
      return message;
    `);
    expect(results).toHaveLength(2);
    expect(claude.tasks.list().map((task) => task.status())).toEqual(["completed"]);
    expect(events.map(({ type }) => type)).not.toContain("message.rejected");
    expect(isAlive(claude.pid)).toBe(false);
  });

  test("that does not report its state and names no prompts, like older ones", async () => {
    const { claude, results } = await played(`
      if (message.subtype === "session_state_changed") return undefined;
      delete message.user_message_uuid;
      delete message.user_message_uuids;
      return message;
    `);
    expect(results).toHaveLength(2);
    expect(claude.tasks.list().map((task) => task.status())).toEqual(["completed"]);
  });

  test("that reports an end with an unknown status: the task is lost, and readers of events are told why", async () => {
    const { claude, events } = await played(`
      if (message.subtype === "task_updated") return undefined;
      if (message.subtype === "task_notification") message.status = "of_tomorrow";
      return message;
    `);
    expect(claude.tasks.list().map((task) => task.status())).toEqual(["lost"]);
    const rejected = events.flatMap((event) => (event.type === "message.rejected" ? [event.error.message] : []));
    expect(rejected).toEqual([expect.stringContaining("the field status")]);
  });
});
