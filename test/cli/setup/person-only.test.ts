/** What a command in the shell of an agent may not do: it has the depth of the agent in its environment. */
import { expect, test } from "bun:test";
import { findDaemon } from "../../../src/daemon/find-daemon.ts";
import { cliWorld } from "../cli-bed.ts";

test("an agent neither starts nor stops the daemon with settings of its own, nor gets a person's link", async () => {
  const world = cliWorld();
  await world.cli("up");
  const { pid } = findDaemon(world.data) ?? { pid: 0 };
  world.environment.ASYNCAGENTS_DEPTH = "1";
  world.environment.ASYNCAGENTS_POLICIES = '[{"decision":"allow"}]';
  for (const words of [
    ["restart", "--force"],
    ["down", "--force"],
    ["up"],
    ["runner"],
    ["store", "restore", "--yes"],
    ["link"],
    ["open", "--print"],
  ]) {
    const { code, out, err } = await world.cli(...words);
    expect([words, code, out, err]).toEqual([words, 1, "", expect.stringContaining("Only people can")]);
  }
  expect(findDaemon(world.data)?.pid).toBe(pid);
  expect((await world.cli("ls")).code).toBe(0);
});
