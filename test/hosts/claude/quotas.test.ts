/**
 * A provider that refuses, fails, hangs or never lets an agent finish, with the real Claude CLI: the run waits and goes
 * on once, also after its process died, or ends with the reason.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { DEFAULT_LIMITS, type Limits } from "../../../src/model/limits.ts";
import type { Task } from "../../../src/model/task.ts";
import * as model from "../../../src/testing/models/script.ts";
import { ACCOUNT, type ClaudeBed, claudeBed } from "./claude-bed.ts";
import { type ClaudeEngine, claudeEngine, ended, launch, when } from "./claude-engine.ts";

const PATIENCE = 90_000;
const dead = new Set<string>();
const running: ClaudeEngine[] = [];
let bed: ClaudeBed;

beforeAll(async () => {
  bed = await claudeBed(ACCOUNT);
});
afterAll(async () => {
  for (const each of running) await each.stop();
  await bed.close();
});

async function started(id: string, limits: Partial<Limits> = {}, host = bed.another()) {
  const made = await claudeEngine(bed, dead, { id, host, settings: { limits: { ...DEFAULT_LIMITS, ...limits } } });
  running.push(made);
  await made.engine.start();
  return { ...made, host };
}

let scripts = 0;
function script(...steps: model.Script): string {
  const name = `quotas-${++scripts}`;
  bed.model.script(name, steps);
  return `Do it. ${model.scriptMarker(name)}`;
}

/** What the API says about an account whose limit is used up for that many seconds. */
function usedUp(seconds: number): model.Answer {
  const headers = {
    "anthropic-ratelimit-unified-status": "rejected",
    "anthropic-ratelimit-unified-reset": String(Math.ceil(Date.now() / 1000) + seconds),
    "anthropic-ratelimit-unified-representative-claim": "five_hour",
  };
  return model.fail(429, "limited", { headers });
}

const bash = (command: string) => model.call("Bash", { command, description: "Runs" });
const prompts = async (task: Task) => {
  const { messages } = await bed.host.messages(task.sessionId, { limit: 50, before: null });
  const texts = messages.filter(({ role }) => role === "user").flatMap(({ parts }) => parts);
  return texts.flatMap((part) => (part.type === "text" && !part.hidden ? [part.text] : []));
};

describe("a used-up limit of the account", () => {
  test(
    "pauses the run until its reset; another process takes it up from one that vanished, and it goes on once",
    async () => {
      const one = await started("ins_1");
      const task = await launch(one.engine, script(bash("cat notes.txt"), usedUp(8), model.say("after the reset")));
      const paused = await when(one.store, task, ({ phase }) => phase === "paused");
      expect(paused.phaseDetail).toMatchObject({
        cause: "quota",
        count: 1,
        reason: expect.stringContaining("You've hit your 5-hour limit · resets"),
      });
      const until = paused.phaseDetail?.kind === "paused" ? paused.phaseDetail.until : 0;
      await one.host.close();
      await one.stop();
      running.splice(
        running.findIndex(({ engine }) => engine === one.engine),
        1,
      );
      dead.add("ins_1");
      const two = await started("ins_2");
      const continued = async () =>
        (await two.store.feed(0)).filter(({ event }) => event.type === "run.continued").length;
      // On a busy machine the first one may have been about to go on.
      const before = await continued();
      await two.engine.recover();
      const done = await ended(two.store, task);
      expect(done).toMatchObject({ status: "completed", run: { number: 0, result: "after the reset" } });
      expect(done.progress.toolCalls).toBe(1);
      expect(done.completedAt ?? 0).toBeGreaterThanOrEqual(until);
      expect(await prompts(task)).toEqual([task.run.prompt, expect.stringContaining("Go on where you stopped")]);
      expect(await continued()).toBe(before + 1);
    },
    PATIENCE,
  );

  test(
    "ends the run if it is over too late",
    async () => {
      const { engine, store } = await started("ins_3");
      const task = await launch(engine, script(usedUp(7 * 86_400), model.say("unheard")));
      const { run } = await ended(store, task);
      expect(run.error).toContain("a run may wait for its provider for 24 hours, and the provider will be back at");
    },
    PATIENCE,
  );
});

test(
  "a rate limit whose end the CLI keeps to itself pauses the run for some minutes; it can be cancelled",
  async () => {
    const { engine, store } = await started("ins_4");
    const task = await launch(engine, script(model.fail(429, "slow down", { retryAfter: 100 }), model.say("unheard")));
    const paused = await when(store, task, ({ phase }) => phase === "paused");
    const wait = paused.phaseDetail?.kind === "paused" ? paused.phaseDetail.until - Date.now() : 0;
    expect([wait > 4 * 60_000, wait < 6 * 60_000]).toEqual([true, true]);
    await engine.cancelTask(paused, "not needed");
    expect((await ended(store, task)).status).toBe("cancelled");
  },
  PATIENCE,
);

test(
  "a provider that fails for ever ends the run after the limit, with the reason",
  async () => {
    const { engine, store } = await started("ins_5", { retries: 2 });
    const task = await launch(engine, script(model.fail(503, "down", { times: Number.POSITIVE_INFINITY })));
    const retrying = await when(store, task, ({ phaseDetail }) => phaseDetail?.kind === "retrying");
    expect(retrying.phaseDetail).toMatchObject({ reason: "server_error", next: expect.any(Number) });
    expect((await ended(store, task)).run.error).toMatch(/^gave up after \d failed tries in .+ server_error/);
  },
  PATIENCE,
);

test(
  "a stream that stops is restarted, and the run goes on",
  async () => {
    const { engine, store } = await started("ins_6", { stallMs: 5_000, stallPolicy: "restart" });
    const task = await launch(engine, script(model.hang("half a sen"), model.say("a whole sentence")));
    expect((await ended(store, task)).run.result).toBe("a whole sentence");
    expect(await prompts(task)).toEqual([task.run.prompt, expect.stringContaining("You showed no sign of life")]);
  },
  PATIENCE,
);

test(
  "a model that loops and one that never ends are stopped, with the reason",
  async () => {
    const { engine, store } = await started("ins_7", { repeats: 3, runMs: 10_000 });
    const loop = Array.from({ length: 50 }, () => bash("cat notes.txt"));
    const endless = Array.from({ length: 500 }, (_, index) => bash(`sleep 0.${(index % 9) + 1}`));
    const [looping, working] = [await launch(engine, script(...loop)), await launch(engine, script(...endless))];
    expect((await ended(store, looping)).run.error).toContain("called Bash with the same arguments");
    expect((await ended(store, working)).run.error).toContain("the run took longer than 0.2 minutes");
  },
  PATIENCE,
);
