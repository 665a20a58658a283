/**
 * The daemon's own OpenCode: the real program, started once, killed, restarted, and never left behind.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, readFileSync, readlinkSync, statSync } from "node:fs";
import { realpath } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Desk } from "../../../src/engine/desk.ts";
import type { Engine } from "../../../src/engine/engine.ts";
import { Runner } from "../../../src/engine/runner.ts";
import { type OpenCodeServer, openCodeServer } from "../../../src/hosts/opencode/server.ts";
import { isQueueHeld } from "../../../src/model/board.ts";
import { isLive, type Task } from "../../../src/model/task.ts";
import { sqliteStore } from "../../../src/store/open.ts";
import type { Store } from "../../../src/store/store.ts";
import { eventually } from "../../../src/testing/eventually.ts";
import { type OpenAiModel, startOpenAiModel } from "../../../src/testing/models/openai-model.ts";
import * as model from "../../../src/testing/models/script.ts";
import { openCodeBinary } from "../../../src/testing/opencode/binary.ts";
import { createProject, createTemporaryRoot, prepareHome } from "../../../src/testing/opencode/home.ts";
import { cleanEnvironment } from "../../../src/testing/opencode/process.ts";
import { PLUGIN } from "../../scenarios/world.ts";

const PATIENCE = 60_000;
const logged: string[] = [];
let root: string;
let scripted: OpenAiModel;
let store: Store;
let server: OpenCodeServer;
let runner: Runner;
let environment: Record<string, string>;
/** A project and a git worktree of it. */
let directories: [string, string];

beforeAll(async () => {
  root = await createTemporaryRoot();
  scripted = startOpenAiModel();
  const home = join(root, "home");
  await prepareHome(home, { model: scripted, plugin: [PLUGIN] });
  environment = cleanEnvironment(home, { ASYNCAGENTS_HOME: join(root, "store") });
  const project = await createProject(join(root, "project"));
  Bun.spawnSync(["git", "worktree", "add", "-q", join(root, "tree"), "-b", "attempt"], { cwd: project });
  directories = [project, await realpath(join(root, "tree"))];
  store = await sqliteStore({ directory: join(root, "store") });
  const log = {
    info: (message: string) => logged.push(message),
    error: (message: string) => logged.push(message),
  };
  server = openCodeServer({ command: openCodeBinary(), environment, folder: folder(), log });
  // Polling is off: only events can end a task.
  runner = new Runner({ store, log, makers: [server], pollMs: 3_600_000 });
}, PATIENCE);
afterAll(async () => {
  const { pid } = server;
  await runner.stop();
  await store.close();
  await scripted.stop();
  if (pid !== null) expect(isRunning(pid)).toBe(false);
  Bun.spawnSync(["rm", "-rf", root]);
});

/** Where OpenCode starts. */
const folder = () => join(root, "data", "opencode");

function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

/** Polls for things without an event: the end of a process that is not our child, or of an instance. */
async function until(holds: () => Promise<boolean>): Promise<void> {
  for (const deadline = Date.now() + PATIENCE / 2; !(await holds()); await Bun.sleep(20)) {
    if (Date.now() > deadline) throw new Error(`timed out waiting for ${holds}`);
  }
}

let scripts = 0;
function script(...steps: model.Script): string {
  const name = `server-${++scripts}`;
  scripted.script(name, steps);
  return model.scriptMarker(name);
}

const desk = new Desk({ store: {} as Store, engines: () => [], isAlive: () => true });
const launch = (engine: Engine, ...steps: model.Script) =>
  desk.launch(engine, { description: "A task", prompt: script(...steps), agent: engine.defaultAgent, batch: null });
const ended = (task: Task) =>
  eventually(store, async () => {
    const now = await store.task(task.id);
    return now && now.run.number >= task.run.number && !isLive(now.status) ? now : null;
  });

test(
  "tasks of a project and of its worktree run concurrently on one server, each in its directory, and end by events",
  async () => {
    const engines = await Promise.all(directories.map((directory) => runner.open("opencode", directory)));
    const bash = model.call("bash", { command: "pwd > where.txt", description: "Says where it is" });
    const tasks = await Promise.all(
      engines.map((engine, at) => launch(engine, model.gate("both"), bash, model.say(`done ${at}`))),
    );
    await scripted.gate("both").reachedBy(2, PATIENCE);
    scripted.gate("both").open();
    for (const [at, task] of tasks.entries()) {
      const done = await ended(task);
      expect(done).toMatchObject({ status: "completed", run: { result: `done ${at}` }, directory: directories[at] });
      expect(readFileSync(join(directories[at] ?? "", "where.txt"), "utf8").trim()).toBe(directories[at] ?? "");
    }
    // The plugin in that process uses the same store, without a status API of its own.
    const plugins = (await store.instances()).filter(({ pid }) => pid === server.pid);
    expect(plugins.map(({ directory }) => directory).toSorted()).toEqual(directories.toSorted());
    expect(existsSync(join(root, "store", "servers"))).toBe(false);
  },
  PATIENCE,
);

test(
  "when the server is killed, its tasks end with that reason, and continue when resumed",
  async () => {
    const engine = await runner.open("opencode", directories[1]);
    const pid = server.pid ?? 0;
    const sleep = model.call("bash", { command: "echo $$ > shell.pid; exec sleep 600", description: "Sleeps" });
    const task = await launch(engine, sleep, model.say("unheard"));
    const file = join(directories[1], "shell.pid");
    await eventually(store, async () => {
      return (await store.task(task.id))?.progress.toolCalls === 1 && existsSync(file) ? true : null;
    });
    const shell = Number(readFileSync(file, "utf8"));
    process.kill(pid, "SIGKILL");
    const lost = await ended(task);
    expect(lost.status).toBe("error");
    expect(lost.run.error).toContain("OpenCode's process ended (SIGKILL)");
    // Queued follow-ups continue: the work itself was fine.
    expect(isQueueHeld(lost.run, null)).toBe(false);
    expect([isRunning(pid), isRunning(shell)]).toEqual([false, false]);
    expect(logged).toContain("OpenCode's process ended; it is started again");
    const prompt = script(model.say("on another server"));
    const resumed = await engine.resumeTask(lost, { prompt });
    expect(await ended(resumed)).toMatchObject({ status: "completed", run: { result: "on another server" } });
    expect(server.pid).not.toBe(pid);
  },
  PATIENCE,
);

test(
  "a released directory is also released in OpenCode, and can be opened again",
  async () => {
    const engine = await runner.open("opencode", directories[0]);
    const held = await launch(engine, model.gate("never"), model.say("unheard"));
    await scripted.gate("never").reachedBy(1, PATIENCE);
    await runner.release(directories[0]);
    expect(await store.task(held.id)).toMatchObject({ status: "error" });
    await until(async () => !(await store.instances()).some(({ directory }) => directory === directories[0]));
    const again = await runner.open("opencode", directories[0]);
    expect(again).not.toBe(engine);
    expect(await ended(await launch(again, model.say("again")))).toMatchObject({ run: { result: "again" } });
  },
  PATIENCE,
);

test(
  "a program that owns an OpenCode and is killed leaves no process behind",
  async () => {
    const script = join(import.meta.dir, "server-child.ts");
    const child = Bun.spawn([process.execPath, script, openCodeBinary(), folder()], {
      env: cleanEnvironment(join(root, "other-home")),
      stdio: ["ignore", "pipe", "inherit"],
    });
    let pid = 0;
    try {
      pid = Number(new TextDecoder().decode((await child.stdout.getReader().read()).value));
      expect(isRunning(pid)).toBe(true);
      child.kill("SIGKILL");
      await child.exited;
      await until(async () => !isRunning(pid));
    } finally {
      child.kill("SIGKILL");
      if (pid > 0 && isRunning(pid)) process.kill(pid, "SIGKILL");
    }
  },
  PATIENCE,
);

test("it starts where nobody else can put a configuration", async () => {
  await runner.open("opencode", directories[0]);
  expect(readlinkSync(`/proc/${server.pid}/cwd`)).toBe(await realpath(folder()));
  expect(statSync(folder()).mode & 0o777).toBe(0o700);
  expect(statSync(dirname(folder())).mode & 0o777).toBe(0o700);
});

test("a program that is missing or does not start is reported with what to do", async () => {
  const log = { info: () => {}, error: () => {} };
  const missing = openCodeServer({ command: "no-such-program", environment, folder: folder(), log });
  expect(await missing.problem()).toContain("npm install -g opencode-ai");
  expect(missing.open(directories[0])).rejects.toMatchObject({ code: "host_unavailable" });
  const broken = openCodeServer({ command: "false", environment, folder: folder(), log });
  expect(await broken.problem()).toBeNull();
  expect(broken.open(directories[0])).rejects.toThrow("OpenCode did not start (code 1)");
});
