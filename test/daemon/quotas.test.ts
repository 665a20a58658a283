/** A run that waits for its provider, in the terminal, with the daemon killed meanwhile. */
import { expect, test } from "bun:test";
import { findDaemon } from "../../src/daemon/find-daemon.ts";
import { cliWorld } from "../cli/cli-bed.ts";

const world = cliWorld();

interface Shown {
  id: string;
  status: string;
  phase: string | null;
  phaseDetail: { kind: string; until: string } | null;
  result: string | null;
}

const run = (prompt: string) => world.json<Shown>("run", "--host", "scripted", prompt);
const paused = async (id: string) => {
  for (const deadline = Date.now() + 30_000; Date.now() < deadline; ) {
    const task = await world.json<Shown>("show", id);
    if (task.phase === "paused") return task;
  }
  throw new Error(`${id} was not paused`);
};

test("it shows until when, can be cancelled, survives kill -9 of the daemon, and goes on once", async () => {
  const { id } = await run("Long work\n!refuse 25 used up");
  const { id: other } = await run("Unwanted work\n!refuse 3600 used up");
  const { phaseDetail } = await paused(id);
  const moment = new Date(phaseDetail?.until ?? "");
  const clock = [moment.getHours(), moment.getMinutes()].map((each) => String(each).padStart(2, "0")).join(":");
  await paused(other);
  const list = (await world.cli("ls")).out;
  expect(list).toContain(`waiting until ${clock} (quota), used up`);
  expect(list).toContain("● paused");
  expect((await world.cli("show", id)).out).toContain(`waiting until ${clock} (quota), used up`);
  const daemon = findDaemon(world.data);
  process.kill(daemon?.pid ?? 0, "SIGKILL");
  // The next command starts another daemon, which takes up what the first one left.
  expect(await paused(id)).toMatchObject({ status: "running", phaseDetail: { until: phaseDetail?.until } });
  expect((await world.cli("cancel", other)).code).toBe(0);
  expect((await world.json<Shown>("show", other)).status).toBe("cancelled");
  // It is not interrupted by an orderly end either, so that is not refused.
  expect((await world.cli("down")).code).toBe(0);
  const waited = await world.cli("wait", id);
  expect(waited.code).toBe(0);
  expect(waited.err).toContain(`"Long work" waits until ${clock} (quota): used up`);
  expect((await world.json<Shown>("show", id)).result).toContain("A scripted agent read: The provider of your model");
  const { messages } = await world.json<{ messages: { role: string }[] }>("logs", "--all", id);
  expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "user", "assistant"]);
  expect(Date.now()).toBeGreaterThanOrEqual(moment.getTime());
}, 120_000);
