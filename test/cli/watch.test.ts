import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { findDaemon } from "../../src/daemon/find-daemon.ts";
import { cliWorld, MAIN } from "./cli-bed.ts";
import { terminal, terminalTest } from "./terminal-bed.ts";

test("watch prints a JSON document for each change if stdout is not a terminal", async () => {
  const world = cliWorld();
  await world.json("up");
  const watching = world.start(["watch", "--json"]);
  await watching.said('"type":"snapshot"');
  await world.json("run", "--host", "scripted", "--wait", "Something\n!say done");
  await watching.said('"type":"task.completed"');
  watching.process.kill("SIGINT");
  const { code, out } = await watching.ended;
  expect(code).toBe(130);
  const types = out
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line).type);
  expect(types[0]).toBe("snapshot");
  expect(types).toContain("task.created");
});

test("watch does not start the daemon that somebody stopped, and goes on with the next one", async () => {
  const world = cliWorld();
  await world.json("up");
  const watching = world.start(["watch", "--json"]);
  await watching.said('"type":"snapshot"');
  await world.json("down");
  await watching.said('"type":"reconnecting"');
  expect(findDaemon(world.data)).toBeNull();
  // This command finds none, though the other one had all the time that it took to start.
  const { err } = await world.cli("run", "--host", "scripted", "--wait", "Something\n!say done");
  expect(err).toContain("Started the daemon");
  await watching.said("Something");
  watching.process.kill("SIGINT");
  expect((await watching.ended).code).toBe(130);
});

terminalTest("watch draws a live table in a real terminal, follows its size, and gives the screen back", async () => {
  const world = cliWorld();
  await world.json(
    "run",
    "--host",
    "scripted",
    `A description that is long enough to be cut on a narrow screen\n!wait go.txt`,
  );
  const { tmux, shows } = terminal(world);
  tmux("new-session", "-d", "-x", "70", "-y", "12", "sh");
  try {
    tmux("send-keys", `echo before; "${process.execPath}" "${MAIN}" watch; echo "ended $?"`, "Enter");
    const narrow = await shows(/● running .*…/);
    expect(narrow).not.toContain("HOST");
    tmux("resize-window", "-x", "140", "-y", "12");
    await shows(/● running +scripted .*on a narrow screen/);
    writeFileSync(join(world.work, "go.txt"), "");
    await shows(/✓ completed/);
    for (let number = 0; number < 12; number++) await world.json("run", "--host", "scripted", `Number ${number}`);
    expect(await shows(/5 below · j\/k scroll/)).toContain("13 in total");
    tmux("send-keys", "j");
    await shows(/1 above · 4 below/);
    tmux("send-keys", "NPage");
    await shows(/5 above · j\/k scroll/);
    tmux("send-keys", "Up");
    await shows(/4 above · 1 below/);
    tmux("send-keys", "g");
    await shows(/Number 11\n.*5 below/s);
    tmux("send-keys", "q");
    const after = await shows(/ended 0/);
    expect(after).toContain("before");
    expect(after).not.toContain("✓ completed");
  } finally {
    tmux("kill-server");
  }
});

terminalTest(
  "watch and ls count what waits apart from what runs, and say why it waits, however long its description",
  async () => {
    const world = cliWorld();
    await world.json("run", "--host", "scripted", "Runs\n!wait go.txt");
    const { tmux, shows } = terminal(world);
    const cli = (word: string) => tmux("send-keys", `"${process.execPath}" "${MAIN}" ${word}`, "Enter");
    tmux("new-session", "-d", "-x", "80", "-y", "20", "sh");
    try {
      cli("watch");
      await shows(/1 running · 0 need you/);
      const prompt = "A description that is too long for a narrow terminal, as most of them are";
      const { id } = await world.json<{ id: string }>("run", "--queue", "--host", "scripted", prompt);
      await shows(/1 running · 1 queued · 0 need you/);
      const reason = new RegExp(
        `${id.slice(-8)}: No runner is running\\. Start one: asyncagents runner --hosts\\s+scripted`,
      );
      await shows(reason);
      tmux("send-keys", "q");
      await shows(/Running tasks keep running/);
      cli("ls");
      await shows(reason);
    } finally {
      tmux("kill-server");
    }
  },
);
