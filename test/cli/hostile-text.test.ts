import { beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { COMMANDS } from "../../src/cli/commands.ts";
import type { Output } from "../../src/cli/terminal/output.ts";
import { paints, terminalText } from "../../src/cli/terminal/paint.ts";
import { Screen, type Terminal } from "../../src/cli/terminal/screen.ts";
import { tableLines } from "../../src/cli/terminal/table.ts";
import { cliWorld, makeRepo } from "./cli-bed.ts";

/** Clipboard, title, colours, cursor, C1, DEL, direction, zero width: what must never reach a terminal. */
const BAD = "\u001b]52;c;aGk=\u0007\u001b[31m\u001b[2J\u009b2J\u0090q\u009c\u007f\u202e\u2066\u200b\ufeff\u2028\r\b";
const ESCAPE = "\u001b";
const HIDDEN = /[\p{Cc}\p{Default_Ignorable_Code_Point}\u2028\u2029]/u;
/** Harmless text that stays as written. */
const KEPT = /\n|\t|\ufe0e|\ufe0f|\u200c|\u200d/gu;
const world = cliWorld();
const ids: Record<string, string> = {};

function expectSafe(text: string): void {
  expect(
    HIDDEN.exec(text.replace(/[\n\t]/g, ""))?.[0]
      .codePointAt(0)
      ?.toString(16),
  ).toBeUndefined();
}

beforeAll(async () => {
  const repo = makeRepo(join(world.work, `repo ${BAD.replaceAll("/", "")}`));
  writeFileSync(join(repo, "readme.txt"), `one ${BAD}\n`);
  const launch = async (prompt: string) => {
    const words = ["run", "--host", "scripted", "--json", "--name", `about ${BAD} it`, "--dir", repo, "-"];
    return JSON.parse((await world.start(words, { stdin: prompt }).ended).out).id as string;
  };
  ids.task = await launch(`Say ${BAD}\n!say ${BAD}\n!write a${BAD}.txt ${BAD}`);
  ids.failed = await launch(`Fail ${BAD}\n!fail because ${BAD}`);
  ids.live = await launch(`Stay ${BAD}\n!wait never`);
  ids.asking = await launch(`Ask ${BAD}\n!permit may I ${BAD}?`);
  const { project_id } = await world.json<{ project_id: string }>("project", "add", `project ${BAD}`);
  await world.json("project", "repo", "add", project_id, repo, "--name", `name ${BAD}`);
  const made = await world.json<{ task_id: string }>(
    "item",
    "add",
    `title ${BAD}`,
    `!write evil.txt ${BAD}\n!say ${BAD}`,
    "-p",
    project_id,
  );
  ids.item = made.task_id;
  ids.project = project_id;
  const words = ["attempt", "start", ids.item, "--host", "scripted", "--wait"];
  ids.attempt = (await world.json<{ attempt_id: string }>(...words)).attempt_id;
});

describe("foreign text", () => {
  /**
   * Calls in an order in which each has something to show; `@name` stands for an id. All other commands get a bad
   * word and reject it.
   */
  const calls: Record<string, string[]> = {
    ls: [],
    show: ["@task"],
    logs: ["@failed", "--all"],
    wait: ["@task", "@failed"],
    watch: [],
    cancel: ["@live"],
    resume: ["@task", `more ${BAD}\n!say ${BAD}`, "--wait"],
    fork: ["@task", `other ${BAD}`, "--wait"],
    answer: ["@asking", BAD, "--reject"],
    run: ["--host", "scripted", "--wait", `${BAD} run\n!fail ${BAD}`],
    "project add": [`project ${BAD}`],
    "project ls": [],
    "project rm": [BAD],
    "project repo add": ["@project", BAD],
    "project repo ls": ["@project"],
    "item add": [`title ${BAD}`, "-p", BAD],
    "item ls": ["-p", "@project"],
    "item show": ["@item"],
    "item set": ["@item", "--title", `again ${BAD}`],
    "item rm": [BAD],
    "attempt start": ["@item", "--host", BAD],
    "attempt ls": ["@item"],
    "attempt show": ["@attempt"],
    "attempt logs": ["@attempt"],
    "attempt wait": ["@attempt"],
    "attempt answer": ["@attempt", BAD],
    "attempt stop": [BAD],
    "attempt follow": ["@attempt", `${BAD}\n!say ${BAD}`, "--wait"],
    "attempt queue": [BAD, "x"],
    "attempt cancel-queue": [BAD],
    "attempt diff": ["@attempt"],
    "attempt merge": ["@attempt", "--keep"],
    "attempt rm": [BAD],
    complete: ["--", "show", ""],
    up: [BAD],
    down: [],
    mcp: ["--tools", BAD],
    install: ["cursor", "--scope", "project", "--print"],
    doctor: [],
    completion: [BAD],
    version: [`--${BAD}`],
    help: [BAD],
    daemon: [BAD],
  };

  const others = COMMANDS.map(({ name }) => name).filter((name) => calls[name] === undefined);
  const silent = ["attempt answer", "attempt ls", "daemon", "down", "doctor", "mcp", "up"];
  const asJson = ["ls", "show", "attempt show"];
  const shown = [...others, ...Object.keys(calls)].flatMap((name) => [
    name,
    ...(asJson.includes(name) ? [`--json ${name}`] : []),
  ]);

  test.each(shown)("is escaped by %s", async (spoken) => {
    const name = spoken.replace("--json ", "");
    const cwd = join(world.work, "here");
    mkdirSync(join(cwd, ".cursor"), { recursive: true });
    writeFileSync(join(cwd, ".cursor", "mcp.json"), `{"a": "\u202e\u007f"}\n`);
    const running = world.start(
      [
        ...spoken.split(" "),
        ...(calls[name] ?? [BAD]).map((word) => (word.startsWith("@") ? (ids[word.slice(1)] ?? "") : word)),
      ],
      {
        cwd,
      },
    );
    if (name === "watch") {
      await running.said(ids.asking ?? "");
      running.process.kill("SIGINT");
    }
    const { out, err } = await running.ended;
    expectSafe(out + err);
    if (!silent.includes(name) && !others.includes(name))
      expect(out + err).toContain(spoken === name ? "<U+" : "\\u202e");
  });

  test("never adds more than one word to a shell's command line", async () => {
    await world.json("project", "add", "$(touch owned) `x`; rm");
    await world.json("project", "add", "plain-name");
    const { out } = await world.cli("complete", "--", "project", "rm", "");
    const values = out.split("\n").map((line) => line.split("\t")[0] ?? "");
    expect(values).toContain("plain-name");
    for (const value of values) expect(value).toMatch(/^[\w.-]*$/);
  });
});

describe("a screen", () => {
  const OWN = new RegExp(`${ESCAPE}\\[((1|2|22|31|32|33|34|36|39)m|H|2?J|K|\\?1049[hl]|\\?25[hl])|\r`, "g");

  function printed(act: (screen: Screen) => void): string {
    const texts: string[] = [];
    const output = { write: (_stream: string, text: string) => texts.push(text) } as unknown as Output;
    const terminal = { columns: 80, rows: 24, on: () => {}, off: () => {} } as unknown as Terminal;
    act(new Screen({ output, stdout: terminal, stderr: terminal, json: false, environment: {} }));
    return texts.join("");
  }

  test("lets no control character through, only its own colours", () => {
    const text = fc.oneof(fc.string({ unit: "binary" }), fc.constant(BAD), fc.constant(paints.red("x").slice(0, 9)));
    fc.assert(
      fc.property(text, (data) => {
        const all = printed((screen) => {
          screen.line(`${paints.red(data)} and ${data}`);
          screen.text(data);
          screen.hint(paints.dim(data));
          screen.failure(new Error(data));
          screen.document({ data });
          screen.jsonLine([data]);
          const leave = screen.enterAlternateScreen();
          screen.draw([data, paints.bold(data)]);
          leave();
          const columns = [{ title: "A", cell: () => data, paint: paints.green, least: 5 }];
          for (const line of tableLines(columns, [1], { width: 20, paint: paints })) screen.line(line);
        });
        return !HIDDEN.test(all.replace(OWN, "").replace(KEPT, ""));
      }),
    );
  });

  test("does not mistake a colour code in a text for one of its own", () => {
    expect(terminalText(`${ESCAPE}[31mred${ESCAPE}[39m ${paints.red("red")}`)).toBe(
      `<U+001B>[31mred<U+001B>[39m ${ESCAPE}[31mred${ESCAPE}[39m`,
    );
    expect(terminalText(paints.bold("x"), false)).toBe("x");
  });
});

test("a file name of several lines begins no line of a warning", async () => {
  const repo = makeRepo(join(world.work, "names"));
  writeFileSync(join(repo, "a)\nThe attempt is merged."), "");
  const words = ["run", "--worktree", "--host", "scripted", "--dir", repo, "!say ok"];
  const { err } = await world.start(words).ended;
  expect(err).toContain("has uncommitted changes (a) The attempt is merged.)");
  expect(err).not.toMatch(/^The attempt is merged/m);
});
