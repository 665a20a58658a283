import { afterEach, describe, expect, setDefaultTimeout, spyOn, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Options } from "@anthropic-ai/claude-agent-sdk";
import type { ClaudeOptions } from "../../src/claude/session/open-claude.ts";
import { call, calls, gate, pause, say } from "../../src/testing/models/script.ts";
import { agentInput, type ClaudeBed, claudeBed, closeBeds, follow } from "./claude-bed.ts";
import { withinBudget } from "./examples/budgets.ts";
import { keepTheFastest } from "./examples/cancelling.ts";
import { askAgain } from "./examples/continuing.ts";
import { follow as followQuery } from "./examples/own-loop.ts";
import { review } from "./examples/simple.ts";
import { analyze } from "./examples/waiting.ts";

setDefaultTimeout(60_000);
afterEach(closeBeds);

const folder = join(import.meta.dir, "examples");
const guide = readFileSync(join(import.meta.dir, "../../docs/claude.md"), "utf8");

function optionsOf({ home }: ClaudeBed): ClaudeOptions {
  return {
    cwd: home.directory,
    env: home.environment,
    prompt: follow("main"),
    permissionMode: "bypassPermissions",
    allowDangerouslySkipPermissions: true,
  };
}

/** Starts agents on these scripts, then ends its turns. */
function scriptMain({ model }: ClaudeBed, scripts: string[], more: Record<string, unknown> = {}): void {
  model.script("main", [
    calls(scripts.map((name) => ({ name: "Agent", input: agentInput(name, more) }))),
    ...Array.from({ length: scripts.length + 2 }, () => say("noted")),
  ]);
}

describe("the guide", () => {
  test.each(readdirSync(folder))("shows %s exactly as it is compiled", (file) => {
    const code = readFileSync(join(folder, file), "utf8").replace("../../../src/claude/index.ts", "asyncagents/claude");
    expect(guide).toContain(`\`\`\`ts\n${code}\`\`\``);
  });

  test("shows no other TypeScript", () => {
    expect(guide.match(/```ts\n/g)).toHaveLength(readdirSync(folder).length);
  });
});

describe("the examples run", () => {
  test("simple", async () => {
    const bed = await claudeBed();
    scriptMain(bed, ["one"], { subagent_type: "reviewer" });
    bed.model.script("one", [say("fine")]);
    await review(optionsOf(bed));
    expect(bed.model.requests.filter(({ answeredBy }) => answeredBy === "one#0")).toHaveLength(1);
  });

  test("waiting", async () => {
    const bed = await claudeBed();
    scriptMain(bed, ["one", "two"]);
    for (const name of ["one", "two"]) bed.model.script(name, [pause(100), say(`${name} is done`)]);
    const { prompt: _none, ...options } = optionsOf(bed);
    const outcomes = await analyze(follow("main"), options);
    expect(outcomes.map(({ summary }) => summary)).toEqual(["one is done", "two is done"]);
  });

  test("cancelling and continuing", async () => {
    const bed = await claudeBed();
    scriptMain(bed, ["slow", "fast"]);
    bed.model.script("slow", [gate("never"), say("no")]);
    bed.model.script("fast", [say("fast is done")]);
    const claude = await bed.open();
    await claude.send(follow("main"));
    const fastest = await keepTheFastest(claude);
    expect(fastest.summary).toBe("fast is done");
    expect(claude.tasks.list().map((task) => task.status())).toEqual(["stopped", "completed"]);

    const task = claude.tasks.get(fastest.taskId);
    bed.model.script("again", [call("SendMessage", { to: task.id, message: follow("more") }), say("x"), say("x")]);
    bed.model.script("more", [say("more is done")]);
    expect(await askAgain(task, follow("again"))).toBe("more is done");
  });

  test("budgets", async () => {
    const bed = await claudeBed();
    scriptMain(bed, ["dear"], { subagent_type: "looker" });
    bed.model.script("dear", [call("Bash", { command: "true", description: "x" }), gate("never"), say("no")]);
    expect(await withinBudget(50, optionsOf(bed))).toEqual(["Job dear"]);
  });

  test("a custom message loop", async () => {
    const bed = await claudeBed();
    scriptMain(bed, ["one"]);
    bed.model.script("one", [say("done")]);
    const { prompt: _none, ...options } = optionsOf(bed);
    const said: string[] = [];
    const log = spyOn(console, "log").mockImplementation((line) => void said.push(line));
    const tasks = await followQuery(follow("main"), options as Options).finally(() => log.mockRestore());
    expect(tasks.list().map((task) => task.status())).toEqual(["completed"]);
    expect(said).toEqual(["Job one: completed"]);
  });
});
