import { describe, expect, test } from "bun:test";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { chooseCommand, parseArguments } from "../../src/cli/arguments.ts";
import { COMMANDS } from "../../src/cli/commands.ts";
import { EXIT_MEANINGS } from "../../src/cli/exit-codes.ts";
import { commandHelp, overallHelp } from "../../src/cli/help.ts";
import { plainPaints } from "../../src/cli/terminal/paint.ts";
import { tableLines } from "../../src/cli/terminal/table.ts";
import { taskFields, taskTableColumns } from "../../src/cli/terminal/task-table.ts";
import { cutToWidth, shortId, widthOf, wrapped } from "../../src/cli/terminal/text.ts";
import { wireTask } from "../../src/http/wire.ts";
import { AsyncAgentsError } from "../../src/model/errors.ts";
import { transition } from "../../src/model/transition.ts";
import type { BackgroundTask } from "../../src/protocol/tasks.ts";
import { newTask } from "../../src/testing/sample-task.ts";
import { root } from "../ground/repository.ts";
import { cliWorld } from "./cli-bed.ts";

const world = cliWorld();
const style = { paint: plainPaints, width: 80 };

/** A live task on the wire. */
function wireSample(): BackgroundTask {
  const made = transition(null, { type: "task.created", at: Date.now(), task: newTask("ses_0123456789abcdef") });
  if (!made.changed) throw new Error(made.reason);
  return wireTask(made.task);
}

function failureOf(act: () => unknown): string {
  try {
    act();
  } catch (thrown) {
    if (AsyncAgentsError.isInstance(thrown)) return `${thrown.code}: ${thrown.message}`;
    throw thrown;
  }
  throw new Error("it did not fail");
}

describe("every command", () => {
  test("is in the overview, unless it is hidden", () => {
    const overview = overallHelp(COMMANDS, style);
    const words = COMMANDS.filter(({ hidden }) => !hidden).map(({ name }) => name.split(" ")[0]);
    expect(words.filter((word) => !overview.includes(`\n  ${word} `))).toEqual([]);
  });

  test.each(COMMANDS.filter(({ hidden }) => !hidden).map((command) => [command.name, command] as const))(
    "%s has help that names its options and fits 80 columns",
    (name, command) => {
      const help = commandHelp(command, style);
      expect(help).toContain(`Usage: asyncagents ${name}`);
      for (const option of Object.keys(command.options ?? {})) expect(help).toContain(`--${option}`);
      const lines = help.split("Examples")[0]?.split("\n") ?? [];
      expect(lines.filter((line) => widthOf(line) > 80)).toEqual([]);
      expect(parseArguments(command, ["--help"]).flag("help")).toBe(true);
    },
  );

  test("has its own name and options, and --json", () => {
    expect(new Set(COMMANDS.map(({ name }) => name)).size).toBe(COMMANDS.length);
    for (const command of COMMANDS) {
      const shorts = Object.values(command.options ?? {}).flatMap(({ short }) => short ?? []);
      expect(new Set([...shorts, "h"]).size).toBe(shorts.length + 1);
      expect(commandHelp(command, style)).toContain("--json");
    }
  });
});

describe("the command line", () => {
  test("shows help without a daemon: for everything, a group, one command", async () => {
    const all = await world.cli("--help");
    expect(all.code).toBe(0);
    for (const [code] of EXIT_MEANINGS) expect(all.out).toContain(`  ${code} `);
    const group = await world.cli("attempt", "--help");
    expect(group).toMatchObject({ code: 0, out: expect.stringContaining("attempt cancel-queue") });
    expect((await world.cli("help", "project", "repo", "add")).out).toContain("--setup");
    expect((await world.cli("run", "-h")).out).toContain("--worktree");
    const nothing = await world.cli();
    expect(nothing).toMatchObject({ code: 2, out: "", err: expect.stringContaining("Usage:") });
    for (const word of ["version", "--version", "-V"])
      expect(await world.cli(word)).toMatchObject({ code: 0, out: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) });
    expect((await world.cli("stop", "--help")).out).toContain("Aliases: stop");
    expect(await Bun.file(`${world.data}/daemon.log`).exists()).toBe(false);
  });

  test("reports errors in one line, or as JSON, and exits with 2", async () => {
    const typo = await world.cli("cancle", "x");
    expect(typo).toMatchObject({
      code: 2,
      out: "",
      err: 'asyncagents: There is no command "cancle". Did you mean "cancel"?\n',
    });
    const missing = await world.cli("show", "--json");
    expect(missing.code).toBe(2);
    expect(JSON.parse(missing.err)).toMatchObject({
      error: { code: "invalid_input", message: expect.stringContaining("<task> is missing") },
    });
    expect((await world.cli("run", "two", "words")).err).toContain("in quotes");
    expect((await world.cli("attempt")).err).toContain("needs one more word: start");
    expect((await world.cli("stauts")).err).toContain('Did you mean "status"?');
    expect((await world.cli("diff", "x")).err).toContain('Did you mean "attempt diff"?');
    expect((await world.cli("repo", "ls")).err).toContain('Did you mean "project repo ls"?');
    expect((await world.cli("ls", "--limit", "many")).code).toBe(2);
    expect((await world.cli("run", "x", "--dir", "nowhere")).code).toBe(2);
    // In the words of the command line, whoever refuses it.
    for (const [option, value, says] of [
      ["--retry", "-1", "--retry must be at least 0"],
      ["--retry", "99", "--retry must be at most 10"],
      ["--max-minutes", "99999999", "--max-minutes must be at most"],
      ["--label", "a b", '"a b" is not a label'],
      ["--budget", "much", '"much" is not a budget'],
    ] as const) {
      const { code, err } = await world.cli("run", "--queue", "--host", "scripted", option, value, "x");
      expect([code, err]).toEqual([2, expect.stringContaining(`asyncagents: ${says}`)]);
    }
  });
});

test("the guide names every command, and the exit codes as they are", async () => {
  const guide = await Bun.file(join(root, "docs/cli.md")).text();
  const words = new Set(guide.split(/[\s`,|[\]()]+/));
  for (const { name, hidden } of COMMANDS)
    if (!hidden) for (const word of name.split(" ")) expect(words).toContain(word);
  for (const [code, meaning] of EXIT_MEANINGS)
    expect(guide.toLowerCase()).toMatch(new RegExp(`\\| ${code} +\\| ${meaning.toLowerCase()}`));
});

describe("the launchers", () => {
  const node = async (script: string, ...words: string[]) => {
    const child = Bun.spawn(["node", join(root, "bin", script), ...words], {
      cwd: world.folder,
      env: { ...world.environment, INIT_CWD: world.work },
      stdout: "pipe",
      stderr: "pipe",
    });
    const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
    return { code: await child.exited, out, err };
  };

  test("pass on words and exit code; npm's stays in the folder it was called in", async () => {
    expect(await node("asyncagents.mjs", "version")).toMatchObject({ code: 0, out: expect.stringMatching(/^\d/) });
    expect((await node("asyncagents.mjs", "nonsense")).code).toBe(2);
    const { out } = await node("launch.mjs", "cli", "install", "claude", "--scope", "project", "--print");
    expect(out).toContain(join(world.work, ".mcp.json"));
  });

  test("use neither programs nor settings from the folder a command is called in", async () => {
    const mark = join(world.folder, "ran");
    for (const folder of [world.folder, world.work]) {
      writeFileSync(join(folder, "bunfig.toml"), 'preload = ["./planted.ts"]\n');
      writeFileSync(join(folder, "planted.ts"), `await Bun.write(${JSON.stringify(mark)}, "");\n`);
      writeFileSync(join(folder, ".env"), "ASYNCAGENTS_WORKTREES=/planted/worktrees\n");
    }
    for (const [script, ...words] of [["asyncagents.mjs"], ["launch.mjs", "cli"]] as const) {
      const { out } = await node(script, ...words, "doctor");
      expect(existsSync(mark)).toBe(false);
      expect(out).toContain("port");
      expect(out).not.toContain("/planted/worktrees");
    }
  });
});

describe("words", () => {
  test("select the command with the longest name, after global switches", () => {
    expect(chooseCommand(COMMANDS, ["--json", "project", "repo", "ls", "shop"])).toMatchObject({
      command: { name: "project repo ls" },
      rest: ["--json", "shop"],
    });
    expect(chooseCommand(COMMANDS, ["project", "nonsense"]).command).toBeNull();
  });

  test("become options, operands, and what follows --", () => {
    const run = COMMANDS.find(({ name }) => name === "run");
    const wait = COMMANDS.find(({ name }) => name === "wait");
    if (!run || !wait) throw new Error("commands are missing");
    const given = parseArguments(run, ["-C", "/x", "--wait", "--timeout", "1.5m", "--", "--json"]);
    expect(given.operands).toEqual(["--json"]);
    expect([given.text("dir"), given.flag("wait"), given.flag("json"), given.duration("timeout")]).toEqual([
      "/x",
      true,
      false,
      90_000,
    ]);
    expect(parseArguments(wait, ["a", "b", "c"]).operands).toEqual(["a", "b", "c"]);
    expect(failureOf(() => parseArguments(run, ["x", "--wait", "--timeout", "soon"]).duration("timeout"))).toContain(
      "such as 30s",
    );
    expect(failureOf(() => parseArguments(run, ["--host"]))).toStartWith("invalid_input: ");
    expect(failureOf(() => parseArguments(run, ["x", "--modle", "y"]))).toContain("Did you mean --model?");
    expect(failureOf(() => parseArguments(run, ["x", "--nonsense"]))).toContain('goes after "--"');
    // A number may begin with "-": what takes it says whether it may be negative.
    expect(parseArguments(run, ["x", "--priority", "-1", "--retry", "-2"]).text("priority")).toBe("-1");
    const negative = parseArguments(run, ["x", "--max-cost", "-1"]);
    expect(failureOf(() => negative.amount("max-cost"))).toContain("--max-cost must be a positive number");
    expect(failureOf(() => parseArguments(run, ["x", "--dir", "-1"]))).toContain("--dir needs a value. Write");
    expect(failureOf(() => parseArguments(run, ["x", "--dir"]))).toContain("--dir needs a value. Usage");
    expect(failureOf(() => parseArguments(run, ["x", "--wait", "--timeout", "30"]).duration("timeout"))).toContain(
      '--timeout takes a time such as 30s, 5m or 1h, not "30"',
    );
    expect(failureOf(() => parseArguments(run, ["x", "--timeout", "5s"]))).toContain("--timeout needs --wait");
    const failureIn = (name: string, ...words: string[]) => {
      const command = COMMANDS.find((each) => each.name === name);
      return command ? failureOf(() => parseArguments(command, words)) : `no command ${name}`;
    };
    expect(failureIn("run", "two", "words")).toContain('"words" is unexpected: put text of several words in quotes.');
    expect(failureIn("tell", "7KPnYJq", "hurry")).toContain(
      '"hurry" is unexpected. To tell a running task something: asyncagents steer <task> "text".',
    );
    expect(failureIn("budget set")).toContain(
      "<task | batch:ID | session:ID> is missing (for example: asyncagents budget set 7KPnYJq '$2 30min'). Usage: ",
    );
    expect(failureIn("store copy", "sqlite")).toContain(
      "<to> is missing (for example: asyncagents store copy sqlite postgres). Usage: ",
    );
  });
});

describe("text for terminals", () => {
  test("tables keep to the width, column by column, whatever the characters", () => {
    const rows = [
      { name: "短い説明がここにあります", state: "ok" },
      { name: "a".repeat(60), state: "failed" },
    ];
    const columns = [
      { title: "STATE", cell: ({ state }: (typeof rows)[number]) => state },
      { title: "NAME", cell: ({ name }: (typeof rows)[number]) => name, least: 5 },
    ];
    for (const width of [3, 9, 20, 40, 200]) {
      const lines = tableLines(columns, rows, { width, paint: plainPaints });
      for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(width);
    }
    expect(tableLines(columns, rows, { width: 20, paint: plainPaints })[2]).toEndWith("…");
  });

  test("every list fits a narrow terminal, and says why a task is retrying", () => {
    const task = {
      ...wireSample(),
      description: "A description that is too long for a narrow terminal, as most of them are",
      phase: "retrying",
      phaseDetail: { kind: "retrying", reason: "authentication_failed", count: 3 },
    } as BackgroundTask;
    for (const width of [20, 40, 60, 80, 140]) {
      const lines = tableLines(taskTableColumns(plainPaints, Date.now(), width), [task], { width, paint: plainPaints });
      for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(width);
      if (width >= 80) expect(lines[1]).toContain("retrying");
      if (width >= 80) expect(lines[1]).toContain("authentication_failed");
    }
    const shown = taskFields(task, plainPaints, Date.now());
    expect(Object.fromEntries(shown).because).toBe("authentication_failed (3 tries)");
  });

  test("a task that waits for a runner can be told from others, and has no agent yet", () => {
    const queue = { waitsFor: "No runner with the host scripted has the label gpu. Start one", labels: ["gpu"] };
    const waits = { agent: "", phase: "queued", phaseDetail: null, description: "Train it", queue };
    const task = { ...wireSample(), ...waits } as unknown as BackgroundTask;
    const lines = tableLines(taskTableColumns(plainPaints, Date.now(), 80), [task], { width: 80, paint: plainPaints });
    expect(lines[1]).toContain("Train it (No runner");
    expect(Object.fromEntries(taskFields(task, plainPaints, Date.now())).agent).toStartWith("default on ");
  });

  test("the time before a task began is shown apart from its work, unless it was too short to tell", () => {
    const task = wireSample();
    const since = Date.parse(task.run.startedAt);
    const after = (ms: number) => new Date(since + ms).toISOString();
    const fields = (waitedMs: number) => {
      const run = { ...task.run, endedAt: after(waitedMs + 60_000) };
      return Object.fromEntries(taskFields({ ...task, run, beganAt: after(waitedMs) }, plainPaints, since));
    };
    expect(fields(3_000)).toMatchObject({ waited: "3s before it began", took: "1m 00s" });
    expect([fields(900).waited, fields(900).took]).toEqual([undefined, "1m 00s"]);
  });

  test("a machine is shown with its name, if that is known", () => {
    const task = { ...wireSample(), machine: "mac_1" };
    const names = new Map([["mac_1", "tower"]]);
    expect(Object.fromEntries(taskFields(task, plainPaints, Date.now(), names)).machine).toBe("tower (mac_1)");
    expect(Object.fromEntries(taskFields(task, plainPaints, Date.now())).machine).toBe("mac_1");
  });

  test("cuts fall between characters, line breaks between words", () => {
    expect(cutToWidth("👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧", 4)).toBe("👩‍👩‍👧…");
    expect(cutToWidth("short", 10)).toBe("short");
    expect(cutToWidth("\u1100".repeat(20), 10)).toBe(`${"\u1100".repeat(4)}…`);
    expect(wrapped("one two three", 9, 2)).toBe("one two\n  three");
    expect([shortId("3faef725-1111-4222-8333-444444444444"), shortId("ses_e2287811dffe0goyfzA7KPnYJq")]).toEqual([
      "3faef725",
      "7KPnYJq".padStart(8, "A"),
    ]);
  });
});
