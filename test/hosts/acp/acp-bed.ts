/**
 * Runs the host suite on a real ACP agent: scripted steps become answers of a scripted model in the agent's format.
 */
import { writeFileSync } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { type AcpHost, acpHost } from "../../../src/hosts/acp/acp-host.ts";
import type { AgentSettings } from "../../../src/hosts/acp/agents/agent-settings.ts";
import { AgentTable } from "../../../src/hosts/acp/agents/agent-table.ts";
import type { ScriptedStep } from "../../../src/hosts/scripted/script.ts";
import type { HostBed } from "../../../src/testing/conformance/host/stage.ts";
import * as model from "../../../src/testing/models/script.ts";
import { createProject, createTemporaryRoot } from "../../../src/testing/opencode/home.ts";
import type { PreparedAgent, TestedAgent } from "./agents/tested-agent.ts";

export interface AcpBed extends HostBed {
  host: AcpHost;
  root: string;
  directory: string;
  model: PreparedAgent["model"];
  environment: Record<string, string>;
  settings: AgentSettings;
  /** Another host on the same sessions, as in another process. */
  another(options?: { silentMs?: number; settings?: AgentSettings }): AcpHost;
}

export async function acpBed(tested: TestedAgent): Promise<AcpBed> {
  const root = await createTemporaryRoot();
  const at = (name: string) => join(root, name);
  for (const name of ["home", "tmp", "project"]) await mkdir(at(name), { recursive: true });
  const directory = await createProject(at("project"));
  const { model: scripted, environment: own, settings } = await tested.prepare({ home: at("home"), directory });
  const { PATH = "", LANG = "C.UTF-8" } = process.env;
  const environment = { PATH, LANG, SHELL: "/bin/bash", HOME: at("home"), TMPDIR: at("tmp"), ...own };
  const another: AcpBed["another"] = (options = {}) =>
    acpHost({
      directory,
      folder: at("transcripts"),
      agents: new AgentTable(environment, { [tested.name]: { ...settings, ...options.settings } }),
      silentMs: options.silentMs ?? 120_000,
      version: "0.0.0",
    });
  const host = another();
  let launches = 0;
  return {
    host,
    root,
    directory,
    model: scripted,
    environment,
    settings,
    another,
    agent: tested.name,
    // Each run starts the program anew, and there may be much else to do.
    patienceMs: 90_000,
    bashTool: tested.showTool,
    script: (name, steps) =>
      scripted.script(
        name,
        steps.flatMap((step) => toSteps(step, tested, directory)),
      ),
    gate(name) {
      const gate = scripted.gate(name);
      return { reachedBy: (count) => gate.reachedBy(count, 90_000), open: () => gate.open() };
    },
    openSession: () =>
      host.start({
        parentSessionId: "",
        parentAgent: "",
        title: "Opened by a person",
        agent: tested.name,
        model: null,
        launchId: `person-${++launches}`,
        denyTools: [],
      }),
    deleteSession: (sessionId) => host.deleteSession(sessionId),
    async close() {
      await host.close();
      await scripted.stop();
      await rm(root, { recursive: true, force: true });
    },
  };
}

let files = 0;

function toSteps(step: ScriptedStep, tested: TestedAgent, directory: string): model.Step[] {
  switch (step.type) {
    case "say":
      return [model.say(step.text)];
    case "empty":
      return Array.from({ length: tested.empties ?? 1 }, () => model.empty());
    case "fail":
      return tested.fail?.(step.message) ?? [model.fail(400, step.message)];
    case "gate":
      return [model.gate(step.name)];
    case "pause":
      return [model.pause(step.ms)];
    case "retry":
      return (
        tested.retry?.(step.reason, step.times) ?? [
          model.fail(503, step.reason, { times: step.times, retryAfter: 0.1 }),
        ]
      );
    case "ask": {
      if (step.asks === "permission") return [tested.touch("asked.txt")];
      if (tested.question === undefined) throw new Error(`${tested.name} has no tool for questions`);
      return [tested.question(step.text)];
    }
    case "act":
      throw new Error("a script for a model cannot do anything by itself");
    case "delegate":
      throw new Error("agents inside an ACP session are not sessions of their own");
    case "call": {
      if (step.fails !== null) return [tested.readMissing(join(directory, "missing.txt"))];
      const file = `output-${++files}.txt`;
      writeFileSync(join(directory, file), step.output);
      return [tested.show(join(directory, file))];
    }
  }
}
