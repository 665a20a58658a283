/**
 * Runs the host suite on the real OpenCode: scripted steps become answers of a scripted model.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { openCodeHost } from "../../../src/hosts/opencode/opencode-host.ts";
import { httpSend, type OpenCodeSend } from "../../../src/hosts/opencode/transport.ts";
import { markerOf, type ScriptedScript, type ScriptedStep } from "../../../src/hosts/scripted/script.ts";
import type { HostBed } from "../../../src/testing/conformance/host/stage.ts";
import { type OpenAiModel, startOpenAiModel } from "../../../src/testing/models/openai-model.ts";
import * as model from "../../../src/testing/models/script.ts";
import { type OpenCode, startOpenCode } from "../../../src/testing/opencode/harness.ts";

export interface OpenCodeBed extends HostBed {
  host: ReturnType<typeof openCodeHost>;
  model: OpenAiModel;
  opencode: OpenCode;
}

/** Faults between OpenCode and the host. */
export interface OpenCodeFaults {
  send?(send: OpenCodeSend): OpenCodeSend;
  /** False if the event is lost. */
  delivers?(event: unknown): boolean;
}

export async function openCodeBed(faults: OpenCodeFaults = {}): Promise<OpenCodeBed> {
  const scripted = startOpenAiModel();
  const opencode = await startOpenCode({
    model: scripted,
    permission: { "*": "allow", bash: { "*": "allow", "touch *": "ask" } },
    config: {
      subagent_depth: 3,
      agent: { lead: { mode: "all", description: "Leads", permission: { task: "allow", question: "allow" } } },
    },
  });
  const send = httpSend({ url: opencode.url, directory: opencode.directory });
  const host = openCodeHost({ send: faults.send?.(send) ?? send });
  const feed = follow(opencode, (event) => {
    if (faults.delivers?.(event) !== false) host.receive(event);
  });
  return {
    host,
    model: scripted,
    opencode,
    agent: "lead",
    script: (name, steps) => scripted.script(name, toModel(steps, opencode.directory)),
    gate: (name) => scripted.gate(name),
    openSession: async () => (await opencode.createSession({ title: "Opened by a person" })).id,
    deleteSession: async (sessionId) => void (await opencode.deleteSession(sessionId)),
    async close() {
      feed.stop();
      await opencode.stop();
      await scripted.stop();
    },
  };
}

/** Passes each event of the harness's stream on, in order. */
function follow(opencode: OpenCode, handle: (event: unknown) => void): { stop(): void } {
  let stopped = false;
  const read = async () => {
    for (let next = opencode.events.length; !stopped; next++) {
      await opencode.waitForEvent(() => true, 24 * 3_600_000, next);
      handle(opencode.events[next]);
    }
  };
  void read();
  return {
    stop() {
      stopped = true;
    },
  };
}

function toModel(steps: ScriptedScript, directory: string): model.Script {
  return steps.map((step) => toStep(step, directory));
}

let files = 0;

function toStep(step: ScriptedStep, directory: string): model.Step {
  switch (step.type) {
    case "say":
      return model.say(step.text);
    case "empty":
      return model.empty();
    case "fail":
      return model.fail(400, step.message);
    case "gate":
      return model.gate(step.name);
    case "pause":
      return model.pause(step.ms);
    case "retry":
      return model.fail(503, step.reason, { times: step.times, retryAfter: 0.1 });
    case "ask":
      if (step.asks === "permission") return bash("touch asked.txt");
      return model.call("question", {
        questions: [{ question: step.text, header: "Asked", options: [{ label: "yes", description: "Go on" }] }],
      });
    case "act":
      throw new Error("a script for a model cannot do anything by itself");
    case "delegate":
      return model.call("task", {
        description: "Below",
        prompt: markerOf(step.script),
        subagent_type: "general",
      });
    case "call": {
      if (step.fails !== null) return model.call("read", { filePath: join(directory, "missing.txt") });
      const file = `output-${++files}.txt`;
      writeFileSync(join(directory, file), step.output);
      return bash(`cat ${file}`);
    }
  }
}

function bash(command: string): model.Answer {
  return model.call("bash", { command, description: "Runs a command" });
}
