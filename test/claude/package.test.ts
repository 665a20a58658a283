import { afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { build } from "../../scripts/build.ts";
import { call, say } from "../../src/testing/models/script.ts";
import { compile, consumer, run } from "../api/consumer.ts";
import { agentInput, claudeBed, closeBeds, follow } from "./claude-bed.ts";

setDefaultTimeout(60_000);

const SDK = "@anthropic-ai/claude-agent-sdk";

beforeAll(() => build());
afterEach(closeBeds);

const WITHOUT_SDK = `
import { openClaude, parseMessage, TaskManager } from "asyncagents/claude";
const base = { type: "system", task_id: "a", session_id: "s" };
const manager = new TaskManager();
manager.track({ ...base, uuid: "1", subtype: "task_started", description: "Job" });
const waiting = manager.wait("a");
const word = { ...base, uuid: "2", subtype: "task_notification", status: "completed", output_file: "/o", summary: "fine" };
manager.track(parseMessage(word));
const failure = await openClaude().catch((thrown) => thrown);
console.log(JSON.stringify([process.versions.node.split(".")[0], (await waiting).summary, failure.code, failure.message]));
`;

const WITH_SDK = `
import { openClaude } from "asyncagents/claude";
const claude = await openClaude({
  prompt: process.argv[2],
  permissionMode: "bypassPermissions",
  allowDangerouslySkipPermissions: true,
});
let results = 0;
for await (const message of claude) if (message.type === "result") results++;
const [task] = claude.tasks.list();
console.log(JSON.stringify([results, task.status(), await task.readOutput()]));
`;

const TYPED = `
import { type AgentDefinition, isMessage, openClaude, parseMessage, TaskManager, type TaskStatus } from "asyncagents/claude";
const manager = new TaskManager({ onTaskNotification: (outcome) => outcome.status satisfies TaskStatus });
const message = parseMessage({});
if (isMessage(message, "task_notification")) message.summary satisfies string;
const status: TaskStatus | "" = manager.get("a").status();
const agent: AgentDefinition = { description: "d", prompt: "p", model: "opus" };
const claude = await openClaude({ agents: { agent } });
(await claude.tasks.wait("a", { timeout: 5 })).summary satisfies string;
// @ts-expect-error
manager.get(5);
export { status };
`;

describe("the package under Node", () => {
  test("works without the SDK, and openClaude says what to install", async () => {
    const [out, errors, code] = await run(["node", "program.js"], consumer({ "program.js": WITHOUT_SDK }, ["zod"]));
    expect([errors, code]).toEqual(["", 0]);
    const [version, summary, failure, message] = JSON.parse(out);
    expect(Number(version)).toBeGreaterThanOrEqual(20);
    expect([summary, failure]).toEqual(["fine", "host_unavailable"]);
    expect(message).toContain(`npm install ${SDK}`);
  });

  test("runs a session with the SDK and the real CLI, and its process ends by itself", async () => {
    const { model, home } = await claudeBed();
    model.script("main", [call("Agent", agentInput("child")), say("begun"), say("noted")]);
    model.script("child", [say("from Node")]);
    const folder = consumer({ "program.js": WITH_SDK }, ["zod", SDK]);
    const [out, errors, code] = await run(["node", "program.js", follow("main")], folder, home.environment);
    expect([errors, code]).toEqual(["", 0]);
    expect(JSON.parse(out)).toEqual([2, "completed", "from Node"]);
  });

  test.each([
    ["without the SDK", []],
    ["with the SDK", [SDK]],
  ] as [string, string[]][])("has valid types %s", async (_how, installed) => {
    // The SDK's own declarations are not ours to check.
    const options = { skipLibCheck: installed.length > 0, exactOptionalPropertyTypes: false };
    expect(await compile(consumer({}, ["zod", ...installed]), TYPED, options)).toBe("");
  });
});
