/**
 * Budgets on the real OpenCode: three tasks at once that use up a budget make at most one request more than it allows,
 * and are stopped with their work kept; a launch that does not fit is refused; a person raises the budget, and they go
 * on. With prices for the scripted model: each request costs ten cents.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { isBudgetStop } from "../../src/model/budgets/budget-text.ts";
import { isLive } from "../../src/model/task.ts";
import { eventually } from "../../src/testing/eventually.ts";
import { type OpenAiModel, startOpenAiModel } from "../../src/testing/models/openai-model.ts";
import { call, gate, pause, type Script, say } from "../../src/testing/models/script.ts";
import { openCodeConfig } from "../../src/testing/opencode/home.ts";
import { World } from "./world.ts";

const REQUEST = 0.1;
const STEP_MS = 50;

let model: OpenAiModel;
let world: World;

/** The scripted model with a price: 1,000 tokens read and 0 written cost ten cents. */
function priced(url: string) {
  const { provider } = openCodeConfig({ model: { url } }) as { provider: { fake: { models: { m1: object } } } };
  const { fake } = provider;
  const m1 = { ...fake.models.m1, cost: { input: 100, output: 0 } };
  return { provider: { fake: { ...fake, models: { m1 } } } };
}

beforeAll(async () => {
  model = startOpenAiModel({ usage: { prompt_tokens: 1_000, completion_tokens: 0 } });
  world = await World.start({ model, config: priced(model.url), options: { sessionBudget: "$1" } });
});
afterAll(async () => {
  await world?.stop();
  await model?.stop();
});

const busy = (steps: number): Script => [
  ...Array.from({ length: steps }, () => [
    pause(STEP_MS),
    call("bash", { command: "true", description: "Does nothing" }),
  ]).flat(),
  say("done"),
];

const requests = (ids: readonly string[]) =>
  ids.reduce((sum, id) => sum + model.requestsOf(id).filter(({ kind }) => kind === "turn").length, 0);

const budget = async (id: string) => {
  const found = await world.store.budgets.get(id);
  if (found === null) throw new Error(`no budget ${id}`);
  return found;
};

describe("three tasks at once in one budget", () => {
  test("make at most one request more than it allows, stop with their work kept, and go on when it is raised", async () => {
    const parent = await world.parent();
    const id = `session:${parent.sessionId}`;
    const ids = await parent.launchAll([busy(20), busy(20), busy(20)]);
    const tasks = await Promise.all(ids.map((each) => world.ended(each)));
    const made = requests(ids);
    expect((await budget(id)).spent.cost).toBeLessThan(11 * REQUEST + 0.01);
    expect(made).toBeGreaterThanOrEqual(10);
    expect(made).toBeLessThanOrEqual(11);
    for (const task of tasks) {
      expect(task.status).toBe("error");
      expect(task.run.error).toStartWith(
        `stopped: the budget of session ${parent.sessionId} is used up ($1.00 of $1.00)`,
      );
      expect(isBudgetStop(task.run.error)).toBe(true);
    }
    expect(await budget(id)).toMatchObject({ live: 0, flying: 0, reserved: { cost: 0 } });
    const events = (await world.store.feed(0, 5_000)).filter(({ event }) => event.type.startsWith("budget."));
    const own = events.flatMap(({ event }) => ("budget" in event && event.budget === id ? [event.type] : []));
    expect(own).toEqual(["budget.warned", "budget.used_up"]);
    // Nothing begins while it is used up, and nothing is left behind.
    const refused = await parent.ask("task", { description: "one more", prompt: "x", agent: "general" });
    expect(refused).toContain("Error (over_budget)");
    expect(refused).toContain("has $0.00 left of $1.00");
    expect(refused).toContain(`asyncagents budget set ${id}`);
    const [first = ""] = ids;
    expect(await parent.ask("task", { resume: first, prompt: "go on" })).toContain("Error (over_budget)");
    await world.settled();
    const { client } = await world.api();
    expect((await client.inbox()).entries).toMatchObject([{ kind: "budget", budgetId: id, answers: ["raise"] }]);
    await client.setBudget(id, { cost: 3 });
    expect((await client.inbox()).entries).toEqual([]);
    const again = `${world.script(say("went on"))} go on`;
    expect(await parent.ask("task", { resume: first, prompt: again })).toContain("resumed");
    expect((await world.ended(first)).run.result).toBe("went on");
  }, 180_000);

  test("of their own reserve them: what does not fit is refused, and nobody uses what is reserved for another", async () => {
    const parent = await world.parent();
    const id = `session:${parent.sessionId}`;
    const kept = await parent.launch([gate("kept"), ...busy(10)], { budget: "$0.5" });
    await model.gate("kept").reached;
    expect((await budget(id)).reserved.cost).toBeCloseTo(0.5);
    const refused = await parent.ask("task", {
      description: "too much",
      prompt: "x",
      agent: "general",
      budget: "$0.75",
    });
    expect(refused).toContain("has $0.50 left of $1.00 ($0.00 spent, $0.50 reserved for running tasks)");
    const shared = await parent.launch(busy(20));
    const stopped = await world.ended(shared);
    expect(stopped.run.error).toContain("is used up but for what other tasks have reserved ($0.50 of $1.00 spent)");
    expect(requests([shared])).toBe(5);
    model.gate("kept").open();
    const own = await world.ended(kept);
    expect(own.run.error).toStartWith(`stopped: the budget of task ${kept} is used up ($0.50 of $0.50)`);
    expect(requests([kept])).toBe(5);
    expect((await budget(id)).spent.cost).toBeCloseTo(10 * REQUEST);
  }, 180_000);
});

describe("kill -9 in the middle", () => {
  test("leaves what was spent and reserved as the stored tasks say, neither doubled nor forgotten", async () => {
    const parent = await world.parent();
    const id = `session:${parent.sessionId}`;
    const [one = "", other = ""] = await parent.launchAll(
      [
        [...busy(2).slice(0, -1), gate("one"), say("never")],
        [...busy(1).slice(0, -1), gate("other"), say("never")],
      ],
      { budget: "$0.4" },
    );
    await Promise.all([model.gate("one").reached, model.gate("other").reached]);
    await eventually(world.store, async () => ((await budget(id)).spent.cost > 0.29 ? true : null));
    expect(await budget(id)).toMatchObject({ live: 2, tasks: 2 });
    expect((await budget(id)).reserved.cost).toBeCloseTo(0.5);
    await world.opencode.kill();
    expect((await budget(id)).reserved.cost).toBeCloseTo(0.5);
    await world.opencode.restart();
    await world.settled();
    for (const each of [one, other]) expect(isLive((await world.task(each)).status)).toBe(false);
    const after = await budget(id);
    expect(after).toMatchObject({ live: 0, tasks: 2, flying: 0 });
    expect([after.reserved.cost, after.spent.cost].map((amount) => amount.toFixed(2))).toEqual(["0.00", "0.30"]);
  }, 180_000);
});
