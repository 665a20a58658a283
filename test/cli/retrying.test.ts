/**
 * The command line and the real OpenCode when its model cannot be reached: the first thing that goes wrong for many.
 */
import { expect, test } from "bun:test";
import { freePort } from "../../src/process/free-port.ts";
import { openCodeBinary } from "../../src/testing/opencode/binary.ts";
import { prepareHome } from "../../src/testing/opencode/home.ts";
import { cliWorld } from "./cli-bed.ts";

const world = cliWorld();
world.environment.ASYNCAGENTS_OPENCODE = openCodeBinary();

test("run --wait and logs say that a task is retrying, and why", async () => {
  // Nobody listens there.
  await prepareHome(world.home, { model: { url: `http://127.0.0.1:${await freePort()}/v1` } });
  const running = world.start(["run", "--wait", "Say hello"]);
  await running.said('"Say hello" is retrying: ');
  const { tasks } = await world.json<{ tasks: { id: string; phaseDetail: { reason: string } }[] }>("ls");
  const [{ id, phaseDetail } = { id: "", phaseDetail: { reason: "" } }] = tasks;
  expect(phaseDetail.reason).toMatch(/\S/);
  const logs = await world.cli("logs", id);
  expect([logs.code, logs.out]).toEqual([0, expect.stringContaining("Say hello")]);
  expect(logs.err).toContain('● "Say hello" retrying for ');
  expect(logs.err).toContain(`  ${phaseDetail.reason}`);
  const following = world.start(["logs", "-f", id]);
  await following.said('"Say hello" is retrying: ');
  await world.cli("cancel", id);
  const [waited, followed] = await Promise.all([running.ended, following.ended]);
  expect(waited).toMatchObject({ code: 1, out: "" });
  // Once for each reason, however often it tries.
  const said = waited.err.split("\n").filter((line) => line.includes("is retrying: "));
  expect(new Set(said).size).toBe(said.length);
  expect(waited.err).toContain("cancelled by a person");
  expect(followed.err).toContain("cancelled by a person");
}, 60_000);
