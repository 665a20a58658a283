/** The demo as people run it, and the checks behind its exit code. */
import { afterAll, describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type Expected, problemsOf, type Seen } from "../../scripts/demo/check.ts";
import { fit, Screen, wrap } from "../../scripts/demo/screen.ts";
import { scriptedStory, scripts } from "../../scripts/demo/script.ts";
import { programOutput } from "../../scripts/program-output.ts";
import type { NewTask, TaskEvent } from "../../src/model/events.ts";
import type { Run, Task } from "../../src/model/task.ts";
import { transition } from "../../src/model/transition.ts";
import type { ChatBody } from "../../src/testing/models/chat-request.ts";
import { startOpenAiModel } from "../../src/testing/models/openai-model.ts";
import { scriptMarker } from "../../src/testing/models/script.ts";
import { prepareHome } from "../../src/testing/opencode/home.ts";

const root = dirname(dirname(import.meta.dir));
const temporary = await mkdtemp(join(tmpdir(), "demo-test-"));

afterAll(() => rm(temporary, { recursive: true, force: true }));

async function runDemo(args: string[], env: Record<string, string> = {}) {
  const folder = await mkdtemp(join(temporary, "run-"));
  const said = await programOutput([process.execPath, "scripts/demo.ts", ...args], {
    cwd: root,
    env: { ...process.env, TMPDIR: folder, ...env },
  });
  return { ...said, left: readdirSync(folder).filter((name) => name.startsWith("asyncagents-")) };
}

/** Without tmux there is no terminal to draw on. */
const terminalTest = spawnSync("tmux", ["-V"]).status === 0 ? test : () => undefined;

describe("npm start", () => {
  test("--once shows the agents, the notices and the table, and leaves nothing behind", async () => {
    const { out, err, code, left } = await runDemo(["--once"]);
    expect({ code, err, left }, out).toEqual({ code: 0, err: "", left: [] });
    const essential = [
      /parent +Three jobs: I hand each to an agent of its own\./,
      /→ Find the TODOs +read src\/cart\.ts/,
      /✗ Translate README +error after .+: .*Incorrect API key/,
      /┃ ✗ \*\*Agent "Translate README" failed in .+\.\*\*/,
      /┃ ✓ \*\*Agent "Find the TODOs" finished in .+\.\*\*/,
      /┊ --- result of task ses_\w+, quoted until \[\w+\] ---/,
      /✓ Suggest a name +completed in .+: My second suggestion was "Plum & Sons"\./,
      /┃ ✓ \*\*Resume #1 completed in .+\.\*\*/,
      /^ {2}ses_\w+ +explore +Find the TODOs +completed +1 .+ 3 +[\d,]+$/m,
      /^ {2}ses_\w+ +general +Translate README +error +1 /m,
      /^ {2}ses_\w+ +general +Suggest a name +completed +2 /m,
      /4 runs ended; the parent was told of each exactly once/,
    ];
    for (const line of essential) expect(out).toMatch(line);
    expect(out).not.toContain("\x1b");
    expect(Math.max(...out.split("\n").map((line) => Bun.stringWidth(line)))).toBeLessThanOrEqual(100);
  }, 240_000);

  terminalTest(
    "prints a command that shows the parent's session in OpenCode, with its tasks in the panel",
    async () => {
      const folder = await mkdtemp(join(temporary, "run-"));
      const env = { ...process.env, TMPDIR: folder };
      const demo = Bun.spawn([process.execPath, "scripts/demo.ts"], { cwd: root, env, stdout: "pipe", stderr: "pipe" });
      const socket = join(folder, "tmux");
      const tmux = (...words: string[]) => spawnSync("tmux", ["-S", socket, ...words], { encoding: "utf8" }).stdout;
      try {
        let text = "";
        for await (const piece of demo.stdout.pipeThrough(new TextDecoderStream())) {
          text += piece;
          if (text.includes("Ctrl-C ends the demo")) break;
        }
        const command = /^HOME=.* attach .*$/m.exec(text)?.[0] ?? "";
        expect(command, text).not.toBe("");
        tmux("-f", "/dev/null", "new-session", "-d", "-x", "160", "-y", "45", command);
        let shown = "";
        for (let looks = 0; looks < 600 && !/▼ Tasks +3 ended/.test(shown); looks++) {
          await Bun.sleep(100);
          shown = tmux("capture-pane", "-p");
        }
        expect(shown).toMatch(/▼ Tasks +3 ended/);
      } finally {
        tmux("kill-server");
        demo.kill("SIGINT");
        await demo.exited;
      }
    },
    240_000,
  );

  test("--model runs on the user's own provider, without writing to the configuration in its HOME", async () => {
    const model = startOpenAiModel({ scripts });
    const proxy = obedientModel(model.url);
    const home = await mkdtemp(join(temporary, "home-"));
    const config = join(home, ".config", "opencode", "opencode.json");
    const provider = { npm: "@ai-sdk/openai-compatible", options: { baseURL: `${proxy.url}v1`, apiKey: "none" } };
    const models = { clever: { tool_call: true, limit: { context: 200_000, output: 32_000 } } };
    const $schema = "https://opencode.ai/config.json";
    const text = JSON.stringify({ $schema, provider: { own: { ...provider, models } }, permission: { "*": "ask" } });
    await mkdir(dirname(config), { recursive: true });
    await writeFile(config, text);
    // Keeps the configuration, and saves OpenCode the installation of its plugin package.
    await prepareHome(home, { model });
    const env = { HOME: home, OPENCODE_DISABLE_MODELS_FETCH: "1", XDG_CONFIG_HOME: "", XDG_DATA_HOME: "" };
    const { out, code, left } = await runDemo(["--once", "--model", "own/clever"], env);
    await proxy.stop(true);
    await model.stop();
    expect({ code, left }, out).toEqual({ code: 0, left: [] });
    expect(out).toContain("the model is own/clever");
    expect(out).toContain('My second suggestion was "Plum & Sons"');
    expect(await Bun.file(config).text()).toBe(text);
    expect(existsSync(join(home, ".local", "share", "opencode", "opencode.db"))).toBe(false);
    expect(existsSync(join(home, ".opencode", "plugins"))).toBe(false);
    const offered = model.requests.find((request) => request.kind === "turn")?.request.toolNames ?? [];
    expect(offered).toContain("asyncagents_task");
    expect(offered.filter((name) => /bash|edit|write|webfetch/.test(name))).toEqual([]);
  }, 240_000);

  test("an invalid argument is answered with the possible ones", async () => {
    const { out, code } = await runDemo(["--modle", "x"]);
    expect(code).toBe(2);
    expect(out).toMatch(/Unknown argument: --modle[\s\S]+--model provider\/model/);
  });
});

/** A model that follows the worded prompts: it marks them for the scripted one and forwards them. */
function obedientModel(url: string) {
  const marks = [
    { words: "launch three background agents", script: "launch" },
    { words: "with resume set to the id", script: "follow-up" },
  ];
  return Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      const body = (await request.json()) as ChatBody;
      for (const message of body.messages) {
        const mark = marks.find(({ words }) => JSON.stringify(message.content ?? "").includes(words));
        if (message.role !== "user" || !mark) continue;
        message.content = [{ type: "text", text: `${JSON.stringify(message.content)} ${scriptMarker(mark.script)}` }];
      }
      const session = request.headers.get("x-session-affinity") ?? "";
      const headers = { "content-type": "application/json", "x-session-affinity": session };
      return fetch(`${url}/chat/completions`, { method: "POST", headers, body: JSON.stringify(body) });
    },
  });
}

describe("the demo's checks", () => {
  const expected = scriptedStory.expected;

  test("find nothing if all is well", () => {
    expect(problemsOf(seenWell(), expected)).toEqual([]);
    expect(problemsOf(seenWell(), { kind: "any model", least: 3 })).toEqual([]);
  });

  const wrong: { name: string; change(seen: Seen): void; problem: RegExp; expected?: Expected }[] = [
    {
      name: "a task that is missing",
      change: (seen) => void seen.tasks.shift(),
      problem: /expected 3 tasks, saw 2: "Translate README"/,
    },
    {
      name: "a wrong status",
      change: (seen) => void seen.tasks.splice(1, 1, madeTask("Translate README", ["completed"])),
      problem: /expected "Translate README" to be error, saw completed/,
    },
    {
      name: "a missing resume",
      change: (seen) => void seen.tasks.splice(2, 1, madeTask("Suggest a name", ["completed"])),
      problem: /expected "Suggest a name" to have been resumed 1 times, saw 0/,
    },
    {
      name: "a run that was not announced",
      change: (seen) => void seen.notices.shift(),
      problem: /expected 1 notices about "Find the TODOs" \(completed runs\), saw 0/,
    },
    {
      name: "a run that was announced twice",
      change: (seen) => void seen.notices.push(...seen.notices.slice(1, 2)),
      problem: /expected 1 notices about "Translate README" \(error runs\), saw 2/,
    },
    {
      name: "a headline too many",
      change: (seen) => void seen.notices.push({ visible: "✓ **Resume #1 completed in 1s.**", hidden: "" }),
      problem: /expected 4 headlines in the parent's messages, saw 5/,
    },
    {
      name: "a model that launched too little",
      change: (seen) => void seen.tasks.splice(0),
      problem: /expected at least 3 tasks, saw 0/,
      expected: { kind: "any model", least: 3 },
    },
    {
      name: "a model that resumed nothing, and a task without an end",
      change: (seen) => void seen.tasks.splice(2, 1, madeTask("Suggest a name", [])),
      problem: /expected a resumed task, saw none.*\n.*"Suggest a name" to have ended, saw running/,
      expected: { kind: "any model", least: 3 },
    },
  ];
  for (const { name, change, problem, expected: other } of wrong) {
    test(`find ${name}`, () => {
      const seen = seenWell();
      change(seen);
      expect(problemsOf(seen, other ?? expected).join("\n")).toMatch(problem);
    });
  }
});

type Outcome = "completed" | "error";

function seenWell(): Seen {
  const tasks = [
    madeTask("Find the TODOs", ["completed"]),
    madeTask("Translate README", ["error"]),
    madeTask("Suggest a name", ["completed", "completed"]),
  ];
  const notices = tasks.flatMap(({ task, runs }) =>
    runs.map((run) => ({
      visible: `${run.outcome === "error" ? "✗" : "✓"} **Agent "${task.description}" …**\nTask Progress: 1/3`,
      hidden: run.outcome === "error" ? `--- error of task ${task.id}, no` : `--- result of task ${task.id}, yes`,
    })),
  );
  return { tasks, notices };
}

/** Created by the model itself, so that no status is invented here. */
function madeTask(description: string, outcomes: Outcome[]): { task: Task; runs: Run[] } {
  const id = `ses_${description.replaceAll(" ", "")}`;
  const about = { parentSessionId: "p", parentMessageId: "m", parentAgent: "build", agent: "general", model: null };
  const place = { id, sessionId: id, host: "opencode", directory: "d", batchId: "b", isForked: false, owner: null };
  const created: NewTask = { ...about, ...place, description, prompt: "go", messageId: "m" };
  const runs: Run[] = [];
  let task = follow(null, { type: "task.created", at: 1, task: created });
  for (const [run, outcome] of outcomes.entries()) {
    const end = { at: 3, run, progress: null };
    if (run > 0)
      task = follow(task, { type: "task.resumed", at: 2, prompt: "", messageId: "", owner: null, allow: [] });
    const failed = { type: "run.failed", error: "no", ...end } as const;
    task = follow(task, outcome === "error" ? failed : { type: "run.completed", result: "yes", ...end });
    runs.push(task.run);
  }
  return { task, runs };
}

function follow(task: Task | null, event: TaskEvent): Task {
  const next = transition(task, event).task;
  if (next === null) throw new Error(`no task after ${event.type}`);
  return next;
}

describe("the demo's screen", () => {
  function screenOf(width: number, coloured: boolean) {
    let text = "";
    const write = (more: string) => {
      text += more;
    };
    return { screen: new Screen({ write, width: () => width, moving: false, coloured }), text: () => text };
  }

  test("keeps within the width, whatever it shows", () => {
    for (const width of [50, 80, 120]) {
      const { screen, text } = screenOf(width, false);
      screen.phase("A phase");
      screen.line({ name: "a name that is far too long", text: `${"word ".repeat(80)}${"x".repeat(200)}` });
      screen.quote(`${"y".repeat(300)}\nsecond\u0007 line`, true);
      screen.table(
        [
          { title: "id", least: 12 },
          { title: "what", least: 8 },
        ],
        [[{ text: "i".repeat(80) }, { text: "w".repeat(80) }]],
      );
      expect(
        Math.max(
          ...text()
            .split("\n")
            .map((line) => Bun.stringWidth(line)),
        ),
      ).toBeLessThanOrEqual(width);
      expect(text()).not.toContain("\u0007");
    }
  });

  test("uses colours only if they are wanted", () => {
    for (const coloured of [true, false]) {
      const { screen, text } = screenOf(80, coloured);
      screen.line({ name: "n", text: "t" });
      screen.quote("✓ **Agent**", false);
      expect(text().includes("\x1b[")).toBe(coloured);
    }
  });

  test("cuts and wraps between characters", () => {
    expect(fit("ab🌍cd", 5)).toBe("ab🌍…");
    expect(wrap("one two three", 7)).toEqual(["one two", "three"]);
    expect(wrap("a b c d e f", 1, 2)).toEqual(["a", "…"]);
  });
});
