/**
 * The ways in which people run OpenCode: the other scenarios use `serve`; here are `run`, which exits after its
 * reply, and the TUI, where the plugin lives in a Worker.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { programOutput } from "../../scripts/program-output.ts";
import { isOneShot } from "../../src/opencode/plugin.ts";
import { sqliteStore } from "../../src/store/open.ts";
import type { Store } from "../../src/store/store.ts";
import { eventually } from "../../src/testing/eventually.ts";
import { startOpenAiModel } from "../../src/testing/models/openai-model.ts";
import { calls, pause, say } from "../../src/testing/models/script.ts";
import { openCodeBinary } from "../../src/testing/opencode/binary.ts";
import { createProject, createTemporaryRoot, prepareHome } from "../../src/testing/opencode/home.ts";
import { cleanEnvironment } from "../../src/testing/opencode/process.ts";
import { PLUGIN } from "./world.ts";

const model = startOpenAiModel();
let root: string;
let directory: string;
let home: string;
let store: Store;
/** Where the status API announces itself. */
let announced: string;
beforeAll(async () => {
  root = await createTemporaryRoot();
  home = join(root, "home");
  await prepareHome(home, { model, plugin: [[PLUGIN, {}]] });
  directory = await createProject(join(root, "project"));
  const storage = join(home, ".opencode", "plugins", "background-agent");
  store = await sqliteStore({ directory: storage });
  announced = join(storage, "server.json");
});
afterAll(async () => {
  await store?.close();
  await model.stop();
  rmSync(root, { recursive: true, force: true });
});

function launches(...names: string[]) {
  model.script("child", [pause(600), say("the child is done")]);
  const input = (description: string) => ({ description, prompt: "[[script:child]] go", agent: "general" });
  return [
    calls(names.map((name) => ({ name: "asyncagents_task", input: input(name) }))),
    say("all launched"),
    say("told"),
  ];
}

test("`opencode run` waits for its tasks, tells the model, and prints nothing of ours [AT-24.2]", async () => {
  model.script("run", launches("one", "two"));
  const { out, err, code } = await programOutput([openCodeBinary(), "run", "[[script:run]] go"], {
    cwd: directory,
    env: cleanEnvironment(home, { ASYNCAGENTS_API_PORT: "0" }),
  });
  expect(code).toBe(0);
  const { tasks } = await store.tasks({});
  expect(tasks.map((task) => task.status)).toEqual(["completed", "completed"]);
  const parent = tasks[0]?.parentSessionId ?? "";
  const requests = model.requestsOf(parent);
  const texts = requests.at(-1)?.request.userTexts.join("\n") ?? "";
  expect(texts.match(/finished in/g)?.length).toBe(2);
  expect(requests.at(-1)?.request.toolResults("asyncagents_task")[0]).toContain(
    "because this process ends with your reply",
  );
  expect(await store.parentsWithNotices()).toEqual([]);
  expect(existsSync(announced)).toBe(false);
  expect(existsSync(join(announced, "..", "panel-known"))).toBe(false);
  expect(`${out}${err}`).not.toMatch(/asyncagents:|kysely|Error:/);
});

test("in the TUI a task is launched, announced and cleaned up on quit [AT-24.2]", async () => {
  model.script("tui", launches("three"));
  const known = (await store.tasks({ limit: 1 })).total;
  let screen = "";
  const { promise: shown, resolve: show } = Promise.withResolvers<void>();
  const child = Bun.spawn([openCodeBinary(), "--prompt", "[[script:tui]] go"], {
    cwd: directory,
    env: cleanEnvironment(home, { TERM: "xterm-256color", ASYNCAGENTS_API_PORT: "0" }),
    terminal: {
      cols: 120,
      rows: 40,
      data: (_terminal, data) => {
        screen = (screen + new TextDecoder().decode(data)).slice(-200_000);
        if (screen.includes("script:tui")) show();
      },
    },
  });
  try {
    await shown;
    child.terminal?.write("\r");
    const task = await eventually(store, async () => {
      const { tasks, total } = await store.tasks({ limit: 1 });
      return total > known && tasks[0]?.status === "completed" ? tasks[0] : null;
    });
    await model.waitForRequest(
      (seen) => seen.sessionId === task.parentSessionId && seen.request.lastUserText.includes("finished in"),
    );
    // There is no panel here: the person was told of it, once.
    expect(existsSync(join(announced, "..", "panel-known"))).toBe(true);
    expect((await store.instances()).length).toBe(1);
    const { url } = JSON.parse(readFileSync(announced, "utf8"));
    expect((await fetch(`${url}/v1/tasks/${task.id}`)).status).toBe(200);
    child.kill("SIGTERM");
    await child.exited;
    expect((await store.instances()).length).toBe(0);
    expect(existsSync(announced)).toBe(false);
  } finally {
    child.kill("SIGKILL");
  }
});

test("only the one-shot form of `run` counts as one", () => {
  expect(isOneShot(["bun", "/$bunfs/root/opencode", "run", "hello"])).toBe(true);
  expect(isOneShot(["opencode", "run", "-i"])).toBe(false);
  expect(isOneShot(["opencode", "serve", "--port", "1", "run"])).toBe(false);
  expect(isOneShot(["bun", "/$bunfs/root/opencode", "/srv/run"])).toBe(false);
});
