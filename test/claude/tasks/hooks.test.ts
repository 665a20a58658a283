import { afterEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ClaudeOptions } from "../../../src/claude/session/open-claude.ts";
import type { SubagentStartInput, SubagentStopInput } from "../../../src/claude/tasks/hook-inputs.ts";
import { SubagentHooks } from "../../../src/claude/tasks/subagent-hooks.ts";
import { call, calls, fail, gate, say } from "../../../src/testing/models/script.ts";
import { agentInput, claudeBed, closeBeds, follow } from "../claude-bed.ts";

setDefaultTimeout(60_000);
afterEach(closeBeds);

function recording() {
  const starts: SubagentStartInput[] = [];
  const stops: SubagentStopInput[] = [];
  const hooks: ClaudeOptions = {
    onSubagentStart: (input) => void starts.push(input),
    onSubagentStop: (input) => void stops.push(input),
  };
  return { starts, stops, hooks };
}

describe("the hooks of a subagent that completes", () => {
  test("get its id and type at the start [CT-17]", async () => {
    const { model, open } = await claudeBed();
    model.script("main", [
      call("Agent", agentInput("child", { subagent_type: "analyzer" })),
      say("begun"),
      say("noted"),
    ]);
    model.script("child", [say("done")]);
    const { starts, hooks } = recording();
    const claude = await open({ ...hooks, agents: { analyzer: { description: "Analyzes", prompt: "You analyze." } } });
    await claude.send(follow("main"));
    await claude.close({ wait: 10_000 });
    const [task] = claude.tasks.list();
    expect(starts.map(({ agent_id, agent_type }) => [agent_id, agent_type])).toEqual([[task?.id ?? "", "analyzer"]]);
    expect(starts[0]).toMatchObject({ hook_event_name: "SubagentStart", session_id: claude.sessionId });
  });

  test("get stop_hook_active, its id and its transcript at the stop, once [CT-18]", async () => {
    const { model, open } = await claudeBed();
    model.script("main", [call("Agent", agentInput("child")), say("begun"), say("noted")]);
    model.script("child", [say("done")]);
    const { stops, hooks } = recording();
    let exists = false;
    const claude = await open({
      ...hooks,
      onSubagentStop(input) {
        exists = existsSync(input.agent_transcript_path);
        return hooks.onSubagentStop?.(input);
      },
    });
    await claude.send(follow("main"));
    await claude.close({ wait: 10_000 });
    const [task] = claude.tasks.list();
    expect(stops).toHaveLength(1);
    expect(stops[0]).toMatchObject({ agent_id: task?.id, stop_hook_active: false, last_assistant_message: "done" });
    expect([stops[0]?.made_up, exists]).toEqual([undefined, true]);
  });

  test("find the transcript, however late Claude writes it", async () => {
    const { model, open } = await claudeBed();
    const names = Array.from({ length: 8 }, (_, i) => `agent-${i}`);
    model.script("main", [
      calls(names.map((name) => ({ name: "Agent", input: agentInput(name) }))),
      ...Array.from({ length: 10 }, () => say("noted")),
    ]);
    for (const name of names) model.script(name, [say("done")]);
    const found: boolean[] = [];
    const claude = await open({ onSubagentStop: (input) => void found.push(existsSync(input.agent_transcript_path)) });
    await claude.send(follow("main"));
    await claude.close({ wait: 20_000 });
    expect(found).toEqual(names.map(() => true));
  });

  test("can make it continue, and work together with the SDK's own hooks", async () => {
    const { model, open } = await claudeBed();
    model.script("main", [call("Agent", agentInput("child")), say("begun"), say("noted")]);
    model.script("child", [say("half"), say("whole")]);
    const stops: boolean[] = [];
    let own = 0;
    const claude = await open({
      onSubagentStop(input) {
        stops.push(input.stop_hook_active);
        return input.stop_hook_active ? undefined : { decision: "block", reason: "Not enough." };
      },
      hooks: { SubagentStop: [{ hooks: [async () => ({ continue: ++own > 0 })] }] },
    });
    await claude.send(follow("main"));
    const [task] = claude.tasks.list();
    expect(await task?.wait()).toMatchObject({ status: "completed", summary: "whole" });
    expect([stops, own]).toEqual([[false, true], 2]);
  });
});

test("a stop hook is called once the transcript exists, which Claude writes late", async () => {
  const { home } = await claudeBed();
  const agent_transcript_path = join(home.root, "late.jsonl");
  const found: boolean[] = [];
  const hooks = new SubagentHooks(
    { onSubagentStop: () => void found.push(existsSync(agent_transcript_path)) },
    () => {},
  );
  const [added] = hooks.added(undefined)?.SubagentStop?.[0]?.hooks ?? [];
  const input = { hook_event_name: "SubagentStop", agent_id: "a", agent_transcript_path } as never;
  const called = added?.(input, undefined, { signal: new AbortController().signal });
  await Bun.sleep(50);
  expect(found).toEqual([]);
  writeFileSync(agent_transcript_path, "");
  expect([await called, found]).toEqual([{}, [true]]);
});

test.each([
  ["a refusal", { decision: "block", reason: "Not enough." }],
  ["more context", { hookSpecificOutput: { hookEventName: "SubagentStop", additionalContext: "Not enough." } }],
])("an agent that %s made continue, and that is then stopped, stops once more", async (_how, answer) => {
  const { model, open } = await claudeBed();
  model.script("main", [call("Agent", agentInput("child")), say("begun"), say("noted")]);
  model.script("child", [say("half"), gate("whole"), say("whole")]);
  const stops: (string | undefined)[] = [];
  const claude = await open({
    onSubagentStop(input) {
      stops.push(input.made_up?.status ?? "told");
      return answer;
    },
  });
  await claude.send(follow("main"));
  await model.gate("whole").reached;
  await claude.tasks.list()[0]?.cancel();
  await claude.close();
  expect(stops).toEqual(["told", "stopped"]);
});

describe("the stop of a subagent that Claude does not report", () => {
  test("is made up, marked, once: stopped, failed, out of turns, lost; and a throwing hook does no harm", async () => {
    const { model, open } = await claudeBed();
    const names = ["stopped", "failed", "tired", "lost"];
    model.script("main", [
      calls(names.map((name) => ({ name: "Agent", input: agentInput(name, { subagent_type: name }) }))),
      say("begun"),
      ...Array.from({ length: 5 }, () => say("noted")),
    ]);
    model.script("stopped", [gate("stopped"), say("no")]);
    model.script("failed", [fail(400, "refused")]);
    model.script("tired", [call("Bash", { command: "true", description: "x" }), say("never asked for")]);
    model.script("lost", [gate("lost"), say("no")]);
    const { starts, stops, hooks } = recording();
    const agents = Object.fromEntries(
      names.map((name) => [name, { description: name, prompt: name, ...(name === "tired" && { maxTurns: 1 }) }]),
    );
    const claude = await open({
      ...hooks,
      agents,
      onSubagentStop(input) {
        hooks.onSubagentStop?.(input);
        throw new Error("a hook of somebody");
      },
    });
    await claude.send(follow("main"));
    const tasks = new Map(claude.tasks.list().map((task) => [task.agentType, task]));
    await Promise.all([model.gate("stopped").reached, model.gate("lost").reached]);
    await tasks.get("stopped")?.cancel();
    await Promise.all([tasks.get("failed")?.wait(), tasks.get("tired")?.wait()]);
    process.kill(claude.pid ?? 0, "SIGKILL");
    await tasks.get("lost")?.wait();
    await claude.close();

    expect(starts.map(({ agent_type }) => agent_type).sort()).toEqual([...names].sort());
    const told = stops.map((stop) => [stop.agent_type, stop.made_up?.status, stop.agent_transcript_path !== ""]);
    expect(told.sort()).toEqual([
      ["failed", "failed", true],
      ["lost", "lost", true],
      ["stopped", "stopped", true],
      ["tired", "completed", true],
    ]);
  });
});
