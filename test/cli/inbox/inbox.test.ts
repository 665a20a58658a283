/** `asyncagents inbox`: as JSON, as a table, and in a real terminal with one key per answer. */
import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import type { InboxPage } from "../../../src/protocol/inbox.ts";
import type { BackgroundTask } from "../../../src/protocol/tasks.ts";
import { type CliWorld, cliWorld, MAIN } from "../cli-bed.ts";
import { terminal, terminalTest } from "../terminal-bed.ts";

const launched = async (world: CliWorld, prompt: string) =>
  (await world.json<BackgroundTask>("run", "--host", "scripted", prompt)).id;

async function entries(world: CliWorld, count: number): Promise<InboxPage["entries"]> {
  for (let looks = 0; looks < 400; looks++) {
    const page = await world.json<InboxPage>("inbox");
    if (page.entries.length === count) return page.entries;
    await Bun.sleep(25);
  }
  throw new Error(`there were never ${count} entries`);
}

test("a program gets what waits as JSON or a table, leaves no receipt, and an agent cannot answer", async () => {
  const world = cliWorld();
  const id = await launched(world, "Clean up\n!permit Delete the prices\n!say cleaned");
  const [entry] = await entries(world, 1);
  expect(entry).toMatchObject({ kind: "permission", taskId: id, text: "Delete the prices", description: "Clean up" });
  const table = await world.cli("inbox");
  expect(table.out).toMatch(/permission\?.*Clean up.*Delete the prices/);
  expect((await entries(world, 1))[0]?.seen).toEqual([]);
  const agent = { ...world.environment, ASYNCAGENTS_DEPTH: "1" };
  const answer = spawnSync(process.execPath, [MAIN, "answer", id, "--once"], {
    env: agent,
    encoding: "utf8",
    cwd: world.work,
  });
  expect([answer.status, answer.stderr]).toEqual([1, expect.stringContaining("Only a person may answer a permission")]);
  expect((await world.json<BackgroundTask>("show", id)).phase).toBe("waiting");
});

terminalTest("in a terminal one key answers each entry, and the next cannot be hit by the same key", async () => {
  const world = cliWorld();
  const permission = await launched(world, "Clean up\n!permit Delete the prices\n!say cleaned");
  await entries(world, 1);
  const second = await launched(world, "Clean more\n!permit Delete the rest\n!say cleaned");
  await entries(world, 2);
  const question = await launched(world, "Choose\n!ask Which colour?\n!say chosen");
  await entries(world, 3);
  const failed = await launched(world, "Break\n!fail It went wrong.");
  await entries(world, 4);
  const { tmux, shows } = terminal(world);
  tmux("new-session", "-d", "-x", "90", "-y", "24", "sh");
  try {
    tmux("send-keys", `"${process.execPath}" "${MAIN}" inbox; echo "ended $?"`, "Enter");
    await shows(/4 need you[\s\S]*› .*Clean up[\s\S]*Delete the prices[\s\S]*a allow once/);
    expect((await entries(world, 4)).map(({ seen }) => seen.length)).toEqual([1, 0, 0, 0]);
    // Twice at once: the second is not for the next entry.
    tmux("send-keys", "aa");
    await shows(/3 need you[\s\S]*› .*Clean more/);
    expect((await world.json<BackgroundTask>("show", permission)).phaseDetail).toMatchObject({
      reply: "allowed once",
      by: "command line",
    });
    expect((await world.json<BackgroundTask>("show", second)).phase).toBe("waiting");
    // Somebody else answers.
    await world.json("answer", second, "--reject");
    await shows(/already rejected, from the command line/);
    // The rejected run failed, and is an entry of its own now.
    await entries(world, 3);
    tmux("send-keys", "1");
    await shows(/› .*Choose/);
    tmux("send-keys", "t");
    await shows(/enter sends/);
    tmux("send-keys", "-l", "grün, q");
    tmux("send-keys", "Enter");
    await shows(/2 need you/);
    expect((await world.json<BackgroundTask>("show", question)).phaseDetail).toMatchObject({ reply: "answered" });
    tmux("send-keys", "1d");
    await shows(/1 needs you/);
    tmux("send-keys", "1d");
    await shows(/nothing needs you/);
    expect((await world.json<BackgroundTask>("show", failed)).resultRetrievedAt).not.toBeNull();
    tmux("send-keys", "q");
    await shows(/ended 0/);
  } finally {
    tmux("kill-server");
  }
});
