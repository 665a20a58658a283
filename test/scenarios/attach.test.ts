/** `attach` on the real programs: OpenCode's own screen shows the session, and Claude's own CLI goes on with it. */
import { afterAll, expect, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { programOutput } from "../../scripts/program-output.ts";
import { claudeEnvironment } from "../../src/testing/claude-home.ts";
import { startAnthropicModel } from "../../src/testing/models/anthropic-model.ts";
import { startOpenAiModel } from "../../src/testing/models/openai-model.ts";
import { gate, say } from "../../src/testing/models/script.ts";
import { openCodeBinary } from "../../src/testing/opencode/binary.ts";
import { createProject, prepareHome } from "../../src/testing/opencode/home.ts";
import { cleanEnvironment } from "../../src/testing/opencode/process.ts";
import { cliWorld, MAIN } from "../cli/cli-bed.ts";

const PATIENCE = 120_000;

interface Attachment {
  program: string;
  arguments: string[];
  environment: Record<string, string>;
  directory: string;
  live: boolean;
}

/** A command in a terminal of its own, and what it has shown so far. */
function inTerminal(words: readonly string[], cwd: string, env: Record<string, string>) {
  let text = "";
  const waiting: { wanted: string; resolve(): void }[] = [];
  const child = Bun.spawn([process.execPath, MAIN, ...words], {
    cwd,
    env: { ...env, TERM: "xterm-256color" },
    terminal: {
      cols: 120,
      rows: 40,
      data: (_terminal, data) => {
        text = (text + new TextDecoder().decode(data)).slice(-400_000);
        for (const { wanted, resolve } of waiting) if (text.includes(wanted)) resolve();
      },
    },
  });
  const shows = (wanted: string) => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    if (text.includes(wanted)) resolve();
    waiting.push({ wanted, resolve });
    void child.exited.then((code) => reject(new Error(`ended with ${code} without "${wanted}": ${text.slice(-2000)}`)));
    return promise;
  };
  return { child, shows, type: (keys: string) => child.terminal?.write(keys) };
}

test(
  "OpenCode shows the session of an ended task, and of a live one after a question",
  async () => {
    const model = startOpenAiModel();
    afterAll(() => model.stop());
    const world = cliWorld();
    Object.assign(world.environment, cleanEnvironment(world.home, { ...world.environment }));
    world.environment.ASYNCAGENTS_OPENCODE = openCodeBinary();
    await prepareHome(world.home, { model });
    const directory = await createProject(join(world.work, "project"));
    model.script("one", [say("purple elephants")]);
    const task = await world.json<{ id: string }>("run", "--dir", directory, "--wait", "[[script:one]] Say it");
    const found = await world.json<Attachment>("attach", task.id);
    expect(found).toMatchObject({ directory, live: false });
    expect(found.arguments).toEqual([
      "attach",
      expect.stringMatching(/^http/),
      "--dir",
      directory,
      "--session",
      task.id,
    ]);
    const printed = await world.cli("attach", "--print", task.id);
    expect(printed.out).toContain(`cd ${directory} && OPENCODE_SERVER_USERNAME=asyncagents OPENCODE_SERVER_PASSWORD=`);
    const screen = inTerminal(["attach", task.id], world.work, world.environment);
    try {
      await screen.shows("elephants");
    } finally {
      screen.child.kill("SIGTERM");
    }
    await screen.child.exited;
    model.script("two", [gate("held"), say("later")]);
    const live = await world.json<{ id: string }>("run", "--dir", directory, "[[script:two]] Wait");
    await model.gate("held").reached;
    const asked = inTerminal(["attach", live.id], world.work, world.environment);
    await asked.shows("A run is live in this session");
    asked.type("n\r");
    expect(await asked.child.exited).toBe(1);
    model.gate("held").open();
    await world.cli("wait", live.id);
  },
  PATIENCE,
);

test(
  "Claude's own CLI goes on with the session, in the task's directory and with its configuration",
  async () => {
    const model = startAnthropicModel();
    afterAll(() => model.stop());
    const home = await claudeEnvironment({ model });
    afterAll(() => home.remove());
    const world = cliWorld();
    Object.assign(world.environment, home.environment);
    model.script("first", [say("the word is pelican")]);
    const task = await world.json<{ id: string }>(
      "run",
      "--host",
      "claude",
      "--dir",
      home.directory,
      "--wait",
      "[[script:first]] Remember",
    );
    const found = await world.json<Attachment>("attach", task.id);
    expect(found.environment).toEqual({
      HOME: home.environment.HOME ?? "",
      CLAUDE_CONFIG_DIR: home.environment.CLAUDE_CONFIG_DIR ?? "",
    });
    expect(found.arguments).toEqual(["--resume", task.id]);
    model.script("next", [say("heard it")]);
    const { out, code, err } = await programOutput(
      [found.program, ...found.arguments, "-p", "[[script:next]] What was the word?"],
      { cwd: found.directory, env: { ...home.environment, ...found.environment } },
    );
    expect([code, out.trim(), err]).toEqual([0, "heard it", err]);
    const { request } = model.requestsOf(task.id).at(-1) ?? {};
    expect(JSON.stringify(request)).toContain("pelican");
    // What was typed there is no run of the task.
    expect(await world.json("show", task.id)).toMatchObject({ result: "the word is pelican", resumeCount: 0 });
  },
  PATIENCE,
);

test(
  "a host without such a program, a queued task and an agent are refused with what to do",
  async () => {
    const world = cliWorld();
    mkdirSync(world.data, { recursive: true });
    const { id } = await world.json<{ id: string }>("run", "--host", "scripted", "--wait", "x\n!say x");
    const refused = await world.cli("attach", id);
    expect([refused.code, refused.err]).toEqual([1, expect.stringContaining(`asyncagents logs ${id}`)]);
    const queued = await world.json<{ id: string }>("run", "--queue", "--host", "scripted", "y");
    expect((await world.cli("attach", queued.id)).err).toContain("it waits for a runner");
    world.environment.ASYNCAGENTS_DEPTH = "1";
    expect((await world.cli("attach", id)).err).toContain("Only people can open a session");
  },
  PATIENCE,
);
