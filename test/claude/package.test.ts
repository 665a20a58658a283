import { afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "../../scripts/build.ts";
import { call, say } from "../../src/testing/models/script.ts";
import { agentInput, claudeBed, closeBeds, follow } from "./claude-bed.ts";

setDefaultTimeout(60_000);

const root = join(import.meta.dir, "../..");
const SDK = "@anthropic-ai/claude-agent-sdk";
const folders: string[] = [];

beforeAll(() => build());
afterEach(async () => {
  await closeBeds();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** A user project with the package, its dependency and these other packages installed. */
function project(files: Record<string, string>, installed: string[] = []): string {
  const folder = mkdtempSync(join(tmpdir(), "asyncagents-package-"));
  folders.push(folder);
  const own = join(folder, "node_modules", "asyncagents");
  mkdirSync(join(folder, "node_modules", "@anthropic-ai"), { recursive: true });
  for (const part of ["package.json", "dist/claude", "dist/model", "dist/process"]) {
    cpSync(join(root, part), join(own, part), { recursive: true });
  }
  for (const name of ["zod", ...installed]) {
    symlinkSync(join(root, "node_modules", name), join(folder, "node_modules", name));
  }
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}

async function run(command: string[], cwd: string, env?: Record<string, string>): Promise<[string, string, number]> {
  const child = Bun.spawn(command, { cwd, stdio: ["ignore", "pipe", "pipe"], ...(env && { env }) });
  return Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text(), child.exited]);
}

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
    const [out, errors, code] = await run(["node", "program.js"], project({ "program.js": WITHOUT_SDK }));
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
    const folder = project({ "program.js": WITH_SDK }, [SDK]);
    const [out, errors, code] = await run(["node", "program.js", follow("main")], folder, home.environment);
    expect([errors, code]).toEqual(["", 0]);
    expect(JSON.parse(out)).toEqual([2, "completed", "from Node"]);
  });

  test.each([
    ["without the SDK", []],
    ["with the SDK", [SDK]],
  ] as [string, string[]][])("has valid types %s", async (_how, installed) => {
    const options = {
      target: "es2022",
      module: "nodenext",
      strict: true,
      noEmit: true,
      types: [],
      lib: ["esnext", "dom"],
      // We do not check the SDK's own declarations.
      skipLibCheck: installed.length > 0,
    };
    const files = { "program.ts": TYPED, "tsconfig.json": JSON.stringify({ compilerOptions: options }) };
    const folder = project(files, installed);
    const [out, , code] = await run(
      [process.execPath, join(root, "node_modules/typescript/bin/tsc"), "-p", "."],
      folder,
    );
    expect([out, code]).toEqual(["", 0]);
  });
});
