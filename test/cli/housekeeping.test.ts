/** `rm`, `export`, `open`, `attach` and `stats`, as the real command, with tasks of the scripted agent. */
import { describe, expect, test } from "bun:test";
import { readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openerFor } from "../../src/cli/commands/open.ts";
import { cliWorld } from "./cli-bed.ts";

const PATIENCE = 60_000;
const world = cliWorld();

async function ended(...lines: string[]): Promise<string> {
  const { id } = await world.json<{ id: string }>("run", "--host", "scripted", "--wait", lines.join("\n"));
  return id;
}

describe("rm", () => {
  test(
    "removes ended tasks for good, each one reported, and refuses a live one with what to do",
    async () => {
      const [first, second] = [await ended("One\n!say one"), await ended("Two\n!say two")];
      const { id: live } = await world.json<{ id: string }>("run", "--host", "scripted", "Live\n!wait never.txt");
      const { code, out, err } = await world.cli("rm", first, live, second, "no-such-task");
      expect(code).toBe(1);
      expect(out.split("\n").filter((line) => line.startsWith("Removed "))).toHaveLength(2);
      expect(err).toContain("is still running, so it was not removed. Cancel it");
      expect(err).toContain("no-such-task");
      for (const id of [first, second]) expect((await world.cli("show", id)).code).toBe(3);
      expect(await world.json("show", live)).toMatchObject({ status: "running" });
      await world.cli("cancel", live);
      expect(await world.json<object>("rm", live)).toMatchObject({ tasks: [{ id: live, removed: { tasks: 1 } }] });
      expect((await world.json<{ total: number }>("ls")).total).toBe(0);
    },
    PATIENCE,
  );

  test(
    "is for people: an agent's command is refused",
    async () => {
      const id = await ended("Kept\n!say kept");
      world.environment.ASYNCAGENTS_DEPTH = "1";
      const refused = await world.cli("rm", id);
      delete world.environment.ASYNCAGENTS_DEPTH;
      expect([refused.code, refused.err]).toEqual([1, expect.stringContaining("Only people can remove a task")]);
      expect((await world.cli("rm", id)).code).toBe(0);
    },
    PATIENCE,
  );
});

describe("export", () => {
  const HOSTILE = "a\x1b[2J\u202e b";

  test(
    "writes a task with its whole conversation, in order, as Markdown that a terminal can show and as complete JSON",
    async () => {
      const id = await ended("Exported", "!write a.txt one", `!say first \`\`\`\`x ${HOSTILE}`);
      for (let number = 1; number <= 24; number++)
        await world.json("resume", id, `Again ${number}\n!say answer ${number}`, "--wait");
      const file = join(world.work, "task.json");
      expect((await world.cli("export", id, "--format", "json", "-o", file)).code).toBe(0);
      expect(statSync(file).mode & 0o777).toBe(0o600);
      const document = JSON.parse(readFileSync(file, "utf8"));
      expect(document).toMatchObject({ task: { id, description: "Exported" }, problem: null });
      expect(document.runs).toHaveLength(25);
      const { messages } = await world.json<{ messages: { id: string }[] }>("logs", id, "--all");
      expect(messages.length).toBeGreaterThan(45);
      expect(document.messages).toEqual(messages);
      expect(JSON.stringify(document)).toContain("\\u001b[2J");
      const { out } = await world.cli("export", id);
      expect(out).toStartWith("# Exported\n\n- task: `");
      for (const hidden of ["\x1b", "\u202e"]) expect(out).not.toContain(hidden);
      expect(out).toContain("<U+001B>");
      const places = Array.from({ length: 24 }, (_, index) => out.lastIndexOf(`\nanswer ${index + 1}\n`));
      expect(places.every((place, index) => place > (places[index - 1] ?? 0))).toBe(true);
      expect(await world.json<object>("export", id)).toEqual(document);
      const again = await world.cli("export", id, "-o", file);
      expect([again.code, again.err]).toEqual([2, expect.stringContaining("exists already")]);
      expect(JSON.parse(readFileSync(file, "utf8"))).toEqual(document);
    },
    2 * PATIENCE,
  );

  test(
    "without a conversation writes the rest, says why, and fails",
    async () => {
      const id = await ended("Gone\n!say gone");
      rmSync(join(world.data, "scripted"), { recursive: true });
      await world.cli("restart", "--force");
      const { code, out, err } = await world.cli("export", id);
      expect([code, out, err]).toEqual([
        1,
        expect.stringMatching(/## Result\n\ngone\n.*The conversation could not be read/s),
        expect.stringContaining("could not be read"),
      ]);
    },
    PATIENCE,
  );
});

describe("open", () => {
  /** A browser that notes what it is asked to show. */
  function browser(code: number): string {
    const path = join(world.folder, `browser-${code}`);
    writeFileSync(path, `#!/bin/sh\necho "$@" >> '${world.folder}/shown'\nexit ${code}\n`, { mode: 0o755 });
    return path;
  }

  test(
    "shows the page in the browser without the token in its words, and prints the link where there is none",
    async () => {
      const id = await ended("Opened\n!say x");
      const { url } = await world.json<{ url: string }>("up");
      const printed = await world.cli("open");
      expect(printed.out).toMatch(new RegExp(`^${url}/#token=[\\w-]+\n$`));
      expect(printed.out).toBe((await world.cli("link")).out);
      world.environment.BROWSER = browser(0);
      expect((await world.cli("open", id)).out).toBe(`Opened ${url}/tasks/${id}\n`);
      expect((await world.cli("open")).out).toBe(`Opened ${url}/\n`);
      expect(readFileSync(join(world.folder, "shown"), "utf8")).toBe(`${url}/tasks/${id}\n${url}/\n`);
      expect((await world.cli("open", "--print", id)).out).toStartWith(`${url}/tasks/${id}#token=`);
      for (const broken of [browser(3), "/nowhere/browser"]) {
        world.environment.BROWSER = broken;
        expect((await world.cli("open")).out).toStartWith(`${url}/#token=`);
      }
      delete world.environment.BROWSER;
    },
    PATIENCE,
  );

  test("knows what opens an address on each system", () => {
    expect(openerFor("darwin", {})).toEqual(["open"]);
    expect(openerFor("win32", {})).toEqual(["explorer"]);
    expect([openerFor("linux", {}), openerFor("linux", { WAYLAND_DISPLAY: "w" })]).toEqual([null, ["xdg-open"]]);
    expect(openerFor("linux", { DISPLAY: ":0", BROWSER: "firefox:lynx" })).toEqual(["firefox"]);
  });
});

test(
  "stats shows tasks by state, agents, days and models, and the same figures as JSON",
  async () => {
    const world = cliWorld();
    const run = (...words: string[]) => world.cli("run", "--host", "scripted", "--wait", ...words);
    expect((await world.cli("stats")).out).toMatch(/^0 tasks: 0 live.*\n\nNo tasks since \d{4}-\d\d-\d\d\.\n$/);
    await run("One\n!write a.txt x\n!say x");
    await run("Two\n!fail no");
    await run("--agent", "explore", "Three\n!say x");
    const { out } = await world.cli("stats");
    expect(out).toStartWith("3 tasks: 0 live, 2 completed, 1 failed, 0 cancelled\n3 ended runs: ");
    expect(out).toMatch(/^AGENT +TASKS +READ +WRITTEN +COST +TOOLS +AVERAGE$/m);
    expect(out).toMatch(/^explore +1 /m);
    expect(out).toMatch(/^\d{4}-\d\d-\d\d +3 +2 +1 +0 +/m);
    expect(out).toMatch(/^MODEL +TASKS +READ +WRITTEN +COST\n.* +3 +/m);
    const { stats, usage, history } = await world.json<{
      stats: { totalTasks: number; agents: { cost: number }[] };
      usage: { usage: { tasks: number; cost: number }[] };
      history: { buckets: unknown[] };
    }>("stats", "--since", "30d");
    expect([stats.totalTasks, history.buckets.length]).toEqual([3, 1]);
    const cost = (rows: readonly { cost: number }[]) => rows.reduce((sum, row) => sum + row.cost, 0);
    expect(cost(usage.usage)).toBeCloseTo(cost(stats.agents), 6);
    expect(cost(usage.usage)).toBeGreaterThan(0);
    expect((await world.cli("stats", "--since", "2024-01-01")).out).toMatch(/^\d+ DAYS FROM +TASKS/m);
    expect((await world.cli("stats", "--since", "soon")).code).toBe(2);
    const { tasks } = await world.json<{ tasks: { id: string }[] }>("ls", "--agent", "explore");
    await world.cli("rm", tasks[0]?.id ?? "");
    const [stored, removed, runs] = (await world.cli("stats")).out.split("\n");
    expect(stored).toStartWith("2 tasks: ");
    expect(removed).toBe("1 task removed since; the runs and the agents below include what these used");
    expect(runs).toStartWith("3 ended runs: ");
  },
  PATIENCE,
);
