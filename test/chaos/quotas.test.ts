/**
 * A provider that refuses, fails, hangs or never lets an agent finish, on the real OpenCode: the run waits in the store
 * and goes on once, also after kill -9, or ends with the reason.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startOpenAiModel } from "../../src/testing/models/openai-model.ts";
import { call, fail, hang, say } from "../../src/testing/models/script.ts";
import { type Parent, World } from "../scenarios/world.ts";

const PATIENCE = 180_000;
/** Longer than OpenCode is left to wait by itself. */
const WAIT_SECONDS = 45;
const model = startOpenAiModel();
afterAll(() => model.stop());

const bash = (command: string) => call("bash", { command, description: "Runs a command" });

describe("a provider that refuses or fails", () => {
  let world: World;
  let parent: Parent;
  beforeAll(async () => {
    world = await World.start({ model, options: { maxRetries: 2, maxRepeats: 3, maxMinutes: 0.5, toasts: false } });
    parent = await world.parent();
  });
  afterAll(() => world?.stop());

  test(
    "with a time: the run is paused, shown everywhere, survives kill -9, and goes on once at that time",
    async () => {
      const quota = fail(429, "tokens per day are used up", { retryAfter: WAIT_SECONDS });
      const read = call("read", { filePath: "README.md" });
      const id = await parent.launch([read, quota, say("after the night")]);
      const paused = await world.until(id, ({ phase }) => phase === "paused", "a pause");
      const detail = paused.phaseDetail?.kind === "paused" ? paused.phaseDetail : null;
      expect(detail).toMatchObject({ cause: "quota", count: 1, reason: "tokens per day are used up" });
      const until = detail?.until ?? 0;
      expect(until - Date.now()).toBeGreaterThan((WAIT_SECONDS - 20) * 1000);
      const shown = await (await world.api()).client.task(id);
      expect(shown).toMatchObject({ phase: "paused", phaseDetail: { until: new Date(until).toISOString() } });
      expect((await parent.notice("waits for its provider")).hidden).toContain("goes on by itself");
      expect(await parent.ask("list")).toContain(`waiting until ${new Date(until).toISOString()} (quota)`);
      // OpenCode has nothing to do with it any more.
      await world.opencode.waitIdle(id);
      await world.opencode.kill("SIGKILL");
      await world.opencode.restart();
      const done = await world.ended(id);
      expect([done.status, done.run.number, done.run.result]).toEqual(["completed", 0, "after the night"]);
      expect(done.completedAt ?? 0).toBeGreaterThanOrEqual(until);
      expect(done.progress.toolCalls).toBe(1);
      const users = (await world.opencode.messages(id)).filter(({ info }) => info.role === "user");
      expect(users).toHaveLength(2);
      expect(model.requestsOf(id).map(({ status }) => status)).toEqual([200, 429, 200]);
      await parent.notice("after the night");
      expect((await parent.notices()).filter(({ hidden }) => hidden.includes("after the night"))).toHaveLength(1);
    },
    PATIENCE,
  );

  test(
    "for longer than a run may wait: it ends with the time, and is in the inbox of whoever launched it",
    async () => {
      const { client } = await world.api();
      const prompt = `${world.script(fail(429, "used up", { retryAfter: 200_000 }), say("unheard"))} work`;
      const { id } = await client.launch({ description: "too long", prompt, agent: "general" });
      const { run } = await world.ended(id);
      expect(run.error).toContain("a run may wait for its provider for 24 hours, and the provider will be back at");
      await world.opencode.waitIdle(id);
      const { entries } = await client.inbox();
      expect(entries.find(({ taskId }) => taskId === id)).toMatchObject({ kind: "failed", text: run.error ?? "" });
    },
    PATIENCE,
  );

  test(
    "for ever, and a model that loops or never ends: each run ends with the reason, and OpenCode is stopped",
    async () => {
      const loop = Array.from({ length: 50 }, () => bash("true"));
      const endless = Array.from({ length: 500 }, (_, index) => bash(`sleep 1 # ${index}`));
      const down = [fail(503, "the service is down", { times: Number.POSITIVE_INFINITY })];
      const [failing = "", looping = "", working = ""] = await parent.launchAll([down, loop, endless]);
      const retrying = await world.until(failing, ({ phaseDetail }) => phaseDetail?.kind === "retrying", "a retry");
      expect(retrying.phaseDetail).toMatchObject({ reason: "the service is down", next: expect.any(Number) });
      expect((await world.ended(looping)).run.error).toContain("called bash with the same arguments");
      const gaveUp = (await world.ended(failing)).run.error;
      expect(gaveUp).toMatch(/^gave up after 3 failed tries in .+: the service is down/);
      expect((await world.ended(working)).run.error).toContain("the run took longer than 0.5 minutes");
      for (const id of [failing, looping, working]) await world.opencode.waitIdle(id);
    },
    PATIENCE,
  );
});

describe("a stream that stops", () => {
  let world: World;
  beforeAll(async () => {
    const stall = { stallMinutes: 0.15, stallPolicy: "restart", stallRestarts: 1, stallTools: { bash: 0.6 } };
    world = await World.start({ model, options: { ...stall, toasts: false } });
  });
  afterAll(() => world?.stop());

  test(
    "is restarted once, and the run goes on; if it stops again, it ends; a slow tool has more time",
    async () => {
      const parent = await world.parent();
      const [once = "", twice = "", slow = ""] = await parent.launchAll([
        [hang("half a sen"), say("a whole sentence")],
        [hang("half"), hang("again"), say("unheard")],
        [bash("sleep 20"), say("slow but sure")],
      ]);
      expect((await world.ended(once)).run.result).toBe("a whole sentence");
      expect((await world.ended(slow)).run.result).toBe("slow but sure");
      expect((await world.ended(twice)).run.error).toMatch(
        /^stopped: the agent showed no sign of life.+restarted once/,
      );
      const texts = (await world.opencode.messages(once)).filter(({ info }) => info.role === "user");
      expect(texts).toHaveLength(2);
    },
    PATIENCE,
  );
});
