/**
 * The real Codex on a scripted model, launched over MCP and as attempts of the board: success, failure, no answer, a
 * permission, a cancel, kill -9 of the agent and of the daemon, a second prompt, and twenty at once through MCP, the
 * board and the command line. After every one nothing of the agents is left.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient } from "../../../src/client/client.ts";
import * as model from "../../../src/testing/models/script.ts";
import { MAIN } from "../../cli/cli-bed.ts";
import { COMMAND, DaemonBed, type Tools } from "../../mcp/daemon-bed.ts";
import { codex } from "./agents/codex.ts";
import type { PreparedAgent } from "./agents/tested-agent.ts";
import { commandOf, leftProcesses, memoryOf, processesOf } from "./left-processes.ts";

const PATIENCE = 120_000;
const EXECUTOR = "ACP:codex";

/** How it stands, once it has ended or asks something. */
interface Standing {
  status: string;
  text: string;
  asked: string | null;
}

/** One way to have an agent work, over MCP. */
interface Door {
  launch(prompt: string): Promise<string>;
  standing(id: string): Promise<Standing>;
  /** The id of the engine's task. */
  taskOf(id: string): Promise<string>;
  /** A second prompt, once the first has ended. */
  goOn(id: string, prompt: string): Promise<unknown>;
  stop(id: string): Promise<unknown>;
}

const own = realpathSync(mkdtempSync(join(tmpdir(), "asyncagents-doors-")));
let agent: PreparedAgent;
let bed: DaemonBed;
let tools: Tools;
let repoId: string;
let projectId: string;

beforeAll(async () => {
  mkdirSync(join(own, "home"));
  agent = await codex.prepare({ home: join(own, "home"), directory: own });
  bed = await DaemonBed.start({ PATH: agent.environment.PATH ?? "", ASYNCAGENTS_MAX_CONCURRENT: "24" });
  // Its own HOME, so that its processes can be told from the daemon's.
  const environment = { ...agent.environment, HOME: join(own, "home") };
  const known = { codex: { ...agent.settings, environment } };
  writeFileSync(join(bed.root, "data", "asyncagents.json"), JSON.stringify({ agents: { known } }), { mode: 0o600 });
  await bed.stopDaemon();
  await bed.startDaemon();
  tools = await bed.stdio();
  const project = await bed.person("add_project", { name: "p", repos: [bed.repository] });
  projectId = project.project_id;
  repoId = project.repos[0]?.repo_id ?? "";
}, PATIENCE);
afterAll(async () => {
  await bed?.stop();
  await agent?.model.stop();
  rmSync(own, { recursive: true, force: true });
});

let scripts = 0;
function script(...steps: model.Script): string {
  const name = `doors-${++scripts}`;
  agent.model.script(name, steps);
  return model.scriptMarker(name);
}

const shell = (cmd: string) => model.call("exec_command", { cmd, yield_time_ms: 250_000 });

async function person() {
  return createClient({ url: bed.url, ...(await bed.token()) });
}

async function started(name: string): Promise<void> {
  for (let round = 0; round < 300; round++) {
    if (processesOf(own).some((pid) => commandOf(pid).startsWith(name))) return;
    await Bun.sleep(100);
  }
  throw new Error(`${name} was not started`);
}

const launched: Door = {
  async launch(prompt) {
    const { handle } = await tools.call("launch_task", { prompt, executor: EXECUTOR, directory: bed.repository });
    return handle;
  },
  async standing(id) {
    for (;;) {
      const { tasks } = await tools.call("wait_tasks", { handles: [id], wait_ms: 50_000 });
      const [task] = tasks;
      if (task === undefined) throw new Error(`${id} is not known`);
      const { status, result, error, asked } = task;
      if (asked === null && (status === "running" || status === "resumed")) continue;
      return { status, text: result ?? error ?? "", asked: asked?.text ?? null };
    }
  },
  taskOf: async (id) => id,
  // Over MCP only attempts have a follow_up; people continue a launched task.
  goOn: async (id, prompt) => (await person()).resume(id, prompt),
  stop: (id) => bed.person("stop_launch", { handle: id }),
};

const STATUS: Record<string, string> = { failed: "error", stopped: "cancelled" };

const attempted: Door = {
  async launch(prompt) {
    const { task_id } = await tools.call("create_task", { project_id: projectId, title: "Do it" });
    const repos = [{ repo_id: repoId, target_branch: "main" }];
    const { attempt_id } = await tools.call("start_task_attempt", { task_id, executor: EXECUTOR, prompt, repos });
    return attempt_id;
  },
  async standing(id) {
    for (;;) {
      const attempt = await tools.call("get_attempt", { attempt_id: id, wait_ms: 50_000 });
      const { state, final_message, error, asked } = attempt;
      if (state === "starting" || state === "running") continue;
      return { status: STATUS[state] ?? state, text: error ?? final_message ?? "", asked: asked?.text ?? null };
    }
  },
  taskOf: async (id) => (await bed.person("attempt_task", { attempt_id: id })).handle ?? "",
  goOn: (id, prompt) => tools.call("follow_up", { attempt_id: id, action: "send", prompt }),
  stop: (id) => tools.call("stop_attempt", { attempt_id: id }),
};

describe.each([
  ["launch_task", launched],
  ["start_task_attempt", attempted],
])("%s", (_name, door) => {
  const check = (title: string, work: () => Promise<void>) =>
    test(
      title,
      async () => {
        await work();
        expect(await leftProcesses(own)).toEqual([]);
      },
      PATIENCE,
    );

  check("succeeds, and goes on with a second prompt", async () => {
    const id = await door.launch(script(shell("echo hello"), model.say("it said hello")));
    expect(await door.standing(id)).toEqual({ status: "completed", text: "it said hello", asked: null });
    await door.goOn(id, script(model.say("and again")));
    expect(await door.standing(id)).toEqual({ status: "completed", text: "and again", asked: null });
  });

  check("a failed model and an empty answer are errors", async () => {
    const failed = await door.launch(script(model.fail(400, "no such model")));
    expect(await door.standing(failed)).toMatchObject({ status: "error", text: expect.stringContaining("no such") });
    const empty = await door.launch(script(model.empty(), model.empty(), model.empty()));
    const ended = expect.stringContaining("ended without output");
    expect(await door.standing(empty)).toMatchObject({ status: "error", text: ended });
  });

  check("a permission waits for a person, and the agent goes on with the answer", async () => {
    const id = await door.launch(script(codex.touch("asked.txt"), model.say("thanks")));
    const { asked } = await door.standing(id);
    expect(asked).toContain("touch asked.txt");
    await (await person()).answer(await door.taskOf(id), { kind: "permission", decision: "once" });
    expect(await door.standing(id)).toEqual({ status: "completed", text: "thanks", asked: null });
  });

  check("is cancelled, and the shell of its tool is gone", async () => {
    const id = await door.launch(script(shell("sleep 631"), model.say("unheard")));
    await started("sleep 631");
    await door.stop(id);
    expect(await door.standing(id)).toMatchObject({ status: "cancelled" });
  });

  check("an agent that is killed in mid-turn was interrupted", async () => {
    const id = await door.launch(script(shell("sleep 632"), model.say("unheard")));
    await started("sleep 632");
    const killed = processesOf(own).find((pid) => commandOf(pid).includes("codex-acp"));
    process.kill(killed ?? 0, "SIGKILL");
    expect(await door.standing(id)).toMatchObject({ status: "error", text: expect.stringContaining("interrupted") });
  });

  check("a daemon that is killed in mid-turn leaves nothing, and the next one says how it ended", async () => {
    const id = await door.launch(script(shell("sleep 633"), model.say("unheard")));
    await started("sleep 633");
    await bed.stopDaemon("SIGKILL");
    expect(await leftProcesses(own)).toEqual([]);
    await bed.startDaemon();
    expect(await door.standing(id)).toMatchObject({ status: "error", text: expect.stringContaining("interrupted") });
  });
});

test("twenty at once through MCP, the board and the command line all answer, and none is left", async () => {
  const prompts = Array.from({ length: 20 }, (_, at) => script(model.gate("twenty"), model.say(`done ${at}`)));
  const byCommand = async (prompt: string) => {
    const child = Bun.spawn([COMMAND, MAIN, "run", "--host", "acp:codex", prompt], {
      cwd: bed.repository,
      env: bed.environment,
      stdio: ["ignore", "pipe", "inherit"],
    });
    return (await new Response(child.stdout).text()).trim();
  };
  const ways = [
    { launch: launched.launch, standing: launched.standing },
    { launch: attempted.launch, standing: attempted.standing },
    { launch: byCommand, standing: launched.standing },
  ];
  const wayOf = (at: number) => ways[at % ways.length] ?? launched;
  const ids = await Promise.all(prompts.map((prompt, at) => wayOf(at).launch(prompt)));
  await agent.model.gate("twenty").reachedBy(20, 250_000);
  const pids = processesOf(own);
  const memory = Math.round(memoryOf(pids) / 1024 / 1024);
  console.log(`20 Codex agents through the doors: ${pids.length} processes, ${memory} MB`);
  agent.model.gate("twenty").open();
  for (const [at, id] of ids.entries()) {
    expect(await wayOf(at).standing(id)).toEqual({ status: "completed", text: `done ${at}`, asked: null });
  }
  expect(await leftProcesses(own)).toEqual([]);
}, 400_000);
