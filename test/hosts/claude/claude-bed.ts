/**
 * Runs the host suite on the real Claude CLI: scripted steps become answers of a scripted model.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type ClaudeHost, claudeHost } from "../../../src/hosts/claude/claude-host.ts";
import { markerOf, type ScriptedScript, type ScriptedStep } from "../../../src/hosts/scripted/script.ts";
import { type ClaudeHome, claudeEnvironment } from "../../../src/testing/claude-home.ts";
import type { HostBed } from "../../../src/testing/conformance/host/stage.ts";
import { type AnthropicModel, startAnthropicModel } from "../../../src/testing/models/anthropic-model.ts";
import * as model from "../../../src/testing/models/script.ts";

export interface ClaudeBed extends HostBed {
  host: ClaudeHost;
  model: AnthropicModel;
  home: ClaudeHome;
  /** Another host on the same sessions, as in another process. */
  another(): ClaudeHost;
}

export const AGENT = "general-purpose";

/** The CLI as it is for the owner of an account instead of a key: it then understands the account's usage limits. */
export const ACCOUNT = { ANTHROPIC_API_KEY: "", CLAUDE_CODE_OAUTH_TOKEN: "none" };

export async function claudeBed(environment: Record<string, string> = {}): Promise<ClaudeBed> {
  const scripted = startAnthropicModel();
  const home = await claudeEnvironment({ model: scripted, environment });
  const before = process.env.CLAUDE_CONFIG_DIR;
  process.env.CLAUDE_CONFIG_DIR = home.environment.CLAUDE_CONFIG_DIR;
  const another = () =>
    claudeHost({
      directory: home.directory,
      folder: join(home.root, "ledger"),
      environment: home.environment,
      options: {
        permissionMode: "default",
        settings: { permissions: { allow: ["Bash(cat *)", "Bash(sleep *)", "Read"] } },
      },
    });
  const host = another();
  let launches = 0;
  return {
    host,
    model: scripted,
    home,
    another,
    agent: AGENT,
    bashTool: "Bash",
    script: (name, steps) => scripted.script(name, toModel(steps, home.directory)),
    gate: (name) => scripted.gate(name),
    openSession: () =>
      host.start({
        parentSessionId: "",
        parentAgent: "",
        title: "Opened by a person",
        agent: AGENT,
        model: null,
        launchId: `person-${++launches}`,
        denyTools: [],
      }),
    deleteSession: (sessionId) => host.deleteSession(sessionId),
    async close() {
      await host.close();
      await scripted.stop();
      await home.remove();
      if (before === undefined) delete process.env.CLAUDE_CONFIG_DIR;
      else process.env.CLAUDE_CONFIG_DIR = before;
    },
  };
}

function toModel(steps: ScriptedScript, directory: string): model.Script {
  return steps.flatMap((step) => toSteps(step, directory));
}

let files = 0;

function toSteps(step: ScriptedStep, directory: string): model.Step[] {
  switch (step.type) {
    case "say":
      return [model.say(step.text)];
    case "empty":
      // The CLI asks once more before it accepts an empty answer.
      return [model.empty(), model.empty()];
    case "fail":
      return [model.fail(400, step.message)];
    case "gate":
      return [model.gate(step.name)];
    case "pause":
      return [model.pause(step.ms)];
    case "retry":
      // The CLI has a reason of its own for each status: "overloaded" for this one.
      return [model.fail(529, step.reason, { times: step.times })];
    case "ask":
      if (step.asks === "permission") return [bash("touch asked.txt")];
      return [model.call("AskUserQuestion", { questions: [question(step.text)] })];
    case "act":
      throw new Error("a script for a model cannot do anything by itself");
    case "delegate":
      return [
        model.call("Agent", {
          description: "Below",
          prompt: markerOf(step.script),
          subagent_type: AGENT,
          run_in_background: false,
        }),
      ];
    case "call": {
      if (step.fails !== null) return [model.call("Read", { file_path: join(directory, "missing.txt") })];
      const file = `output-${++files}.txt`;
      writeFileSync(join(directory, file), step.output);
      return [bash(`cat ${file}`)];
    }
  }
}

function question(text: string) {
  const options = ["yes", "no"].map((label) => ({ label, description: label }));
  return { question: text, header: "Asked", multiSelect: false, options };
}

function bash(command: string): model.Answer {
  return model.call("Bash", { command, description: "Runs a command" });
}
