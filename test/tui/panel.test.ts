/**
 * The panel in the real OpenCode, in a real terminal: one story from the launch to the results. Each step waits for
 * what the screen shows.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { bundlePanel } from "../../scripts/build/panel.ts";
import { createClient } from "../../src/client/client.ts";
import { call, calls, fail, gate, say } from "../../src/testing/models/script.ts";
import { createTemporaryRoot } from "../../src/testing/opencode/home.ts";
import { startTui, type Tui } from "./tui-bed.ts";

/** Without tmux there is no terminal to draw on. */
const terminalTest = spawnSync("tmux", ["-V"]).status === 0 ? test : () => undefined;
const START_MS = 400_000;
const job = (description: string, script: string) => {
  const input = { description, agent: "general", prompt: `Do it. [[script:${script}]]` };
  return { name: "asyncagents_task", input };
};

let tui: Tui;

beforeAll(async () => {
  const folder = await createTemporaryRoot();
  await bundlePanel(join(import.meta.dir, "faulty-panel.tsx"), folder);
  tui = await startTui({ columns: 180, rows: 45, plugins: [join(folder, "faulty-panel.js")] });
  const options = [{ label: "red", description: "warm" }];
  const question = { question: "Which colour?", header: "Colour", options };
  tui.model.script("ask", [call("question", { questions: [question] }), say("It is painted.")]);
  tui.model.script("work", [call("read", { filePath: "notes.txt" }), gate("door"), say("never said")]);
  tui.model.script("quick", [say(Array.from({ length: 80 }, (_, at) => `Finding ${at + 1}.`).join("\n"))]);
  tui.model.script("bad", [fail(401, "Incorrect API key provided")]);
  const jobs = [job("Paint the button", "ask"), job("Fix \u001b[31mthe\nlogin", "work"), job("Survey", "quick")];
  const noted = Array.from({ length: 12 }, () => say("Noted."));
  tui.model.script("main", [calls([...jobs, job("Translate", "bad")]), say("All launched."), ...noted]);
}, START_MS);

afterAll(() => tui?.stop());

/** The panel's own server. */
function client() {
  const { url, token } = JSON.parse(readFileSync(join(tui.data, "servers", `${tui.pid()}.json`), "utf8"));
  return createClient({ url, token });
}

async function taskNamed(description: string) {
  const { tasks } = await client().tasks({ limit: 20 });
  const found = tasks.find((task) => task.description.startsWith(description));
  if (!found) throw new Error(`there is no task ${description}`);
  return found;
}

/** Opens the list, finds a task in it, and opens that. */
async function openTask(description: string): Promise<void> {
  tui.press("C-x", "j");
  await tui.shows(/Background tasks {5,}esc/);
  tui.type(description);
  await tui.shows(new RegExp(` {3}${description}( {5}|\\n)`));
  await tui.enter("Enter", new RegExp(`${description}.* {3}esc`));
}

/**
 * Finds an action by its title, in small letters, so that the search can be told from what it finds, and resolves when
 * the screen shows what follows.
 */
async function choose(title: string, next: RegExp): Promise<string> {
  tui.type(title.toLowerCase());
  await tui.shows(new RegExp(` {3}${title.toLowerCase()}( {3}|\\n)`));
  return tui.enter("Enter", next);
}

terminalTest(
  "a session shows its tasks above Todo, live, and first what needs a person",
  async () => {
    await tui.shows(/fragile and whole/);
    expect(tui.screen()).not.toMatch(/Tasks|● \d+ task/);
    tui.type("[[script:main]] go");
    await tui.shows(/script:main/);
    tui.press("Enter");
    const shown = await tui.shows(/▼ Tasks +2 live · 2 ended[\s\S]*read · 1 call[\s\S]*Translate/);
    const side = shown.split("\n").map((line) => line.slice(138).trim());
    const at = side.findIndex((line) => line.startsWith("▼ Tasks"));
    expect(side.slice(at + 1, at + 5)).toEqual([
      expect.stringMatching(/^\? Paint the button +[\dms]+$/),
      "Which colour?",
      expect.stringMatching(/^● Fix <U\+001B>\[31mthe login +[\dms]+$/),
      "general · read · 1 call",
    ]);
    const ended = side.slice(at + 5, at + 9).join("\n");
    expect(ended).toMatch(/✓ Survey/);
    expect(ended).toMatch(/✗ Translate +[\dms]+\nAPIError: Incorr/);
  },
  START_MS,
);

terminalTest(
  "an answer from the panel unblocks the task, and says where it came from",
  async () => {
    await openTask("Paint the button");
    await tui.shows(/Which colour\?[\s\S]*Answer[\s\S]*Decline to answer/);
    await tui.enter("Enter", /Answer +esc/);
    tui.type("green");
    await tui.shows(/green/);
    await tui.enter("Enter", /✓ Paint the button/);
    const task = await taskNamed("Paint the button");
    expect(task).toMatchObject({ status: "completed", result: "It is painted." });
    expect(task.phaseDetail).toMatchObject({ kind: "answered", reply: "answered", by: "panel" });
    const asked = tui.model.requestsOf(task.sessionID).at(-1);
    expect(asked?.request.toolResults("question").join()).toContain("green");
  },
  START_MS,
);

terminalTest(
  "the result is read in the panel, and scrolls",
  async () => {
    await openTask("Survey");
    const first = await choose("Read the result", /Finding 1\.[\s\S]*Finding 5\./);
    expect(first).not.toMatch(/Finding 80\./);
    tui.press(...Array(60).fill("Down"));
    await tui.shows(/Finding 80\./);
    tui.press("Escape");
    await tui.hides(/Finding 80\./);
    expect((await taskNamed("Survey")).resultRetrievedAt).not.toBeNull();
  },
  START_MS,
);

terminalTest(
  "in the session of a task a row says what it does, and the way back",
  async () => {
    await openTask("Fix");
    await choose("Open its session", /● working · [\dms]+ · read · 1 call +Fix .* up parent +ctrl\+x j tasks/);
    tui.press("Up");
    await tui.hides(/up parent/);
    await tui.shows(/▼ Tasks +1 live · 3 ended/);
  },
  START_MS,
);

terminalTest(
  "a narrow terminal shows the count at the prompt, and /tasks the list",
  async () => {
    for (const columns of [120, 80]) {
      tui.resize(columns);
      await tui.hides(/▼ Tasks/);
      await tui.shows(/● 1 task\b/);
    }
    tui.type("/tasks");
    await tui.shows(/\/tasks .*background tasks/);
    tui.press("Enter");
    await tui.shows(/At work[\s\S]*Ended/);
    tui.press("Escape");
    await tui.hides(/At work/);
  },
  START_MS,
);

terminalTest(
  "the whole screen shows the same, and cancels a task after asking once more",
  async () => {
    tui.resize(140);
    tui.press("F6");
    await tui.shows(/At work \(1\)[\s\S]*Ended \(3\)/);
    tui.press("Down", "Up");
    await tui.enter("Enter", /Cancel it/);
    await choose("Cancel it", /Stop this task\? +esc[\s\S]*Confirm/);
    await tui.enter("Enter", /Ended \(4\)/);
    expect((await taskNamed("Fix")).status).toBe("cancelled");
    tui.press("Escape");
    await tui.shows(/▼ Tasks +4 ended/);
    expect(tui.screen()).not.toMatch(/● \d+ task/);
  },
  START_MS,
);

terminalTest(
  "a task that waits for a runner says why, in its dialog and on the whole screen",
  async () => {
    const { id } = await client().launch({
      description: "Later",
      prompt: "later",
      host: "scripted",
      queue: {},
      directory: tui.directory,
    });
    tui.press("F6");
    const shown = await tui.shows(/At work \(1\)[\s\S]*No runner is running\. Start one: asyncagents runner/);
    expect(shown).not.toMatch(/\bagent on scripted/);
    await tui.enter("Enter", /◌ queued[\s\S]*No runner is running\. Start one[\s\S]*Later +esc/);
    tui.press("Escape");
    await tui.hides(/Later +esc/);
    tui.press("Escape");
    await tui.hides(/At work/);
    await client().cancel(id);
  },
  START_MS,
);

terminalTest(
  "a fault while the panel is drawn leaves OpenCode as it is",
  async () => {
    tui.press("F7");
    await tui.shows(/Tasks cannot be shown/);
    tui.press("C-x", "j");
    await tui.shows(/Background tasks {5,}esc/);
    tui.press("Escape");
    await tui.hides(/Background tasks {5,}esc/);
    expect(existsSync(join(tui.data, "panel-known"))).toBe(true);
    const log = join(tui.data, "asyncagents.log");
    expect(existsSync(log) ? readFileSync(log, "utf8") : "").not.toContain("the panel");
  },
  START_MS,
);
