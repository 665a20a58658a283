/** Who may raise a budget with a token. */
import { expect, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { NO_LIMITS } from "../../../src/model/budgets/budget.ts";
import { startTokenBed } from "../bed/token-bed.ts";

test("a token that may only launch lowers a budget and does not raise it; one that may answer raises it", async () => {
  const { side, post, secrets } = await startTokenBed();
  const { budgets } = side.store;
  const id = "session:ses_x";
  await budgets.set(id, { limits: { cost: 5 }, by: "local user", at: 1, mayRaise: true });
  const set = async (role: "launch" | "answer", cost: number) => [
    (await post(`/v1/budgets/${id}`, { cost }, secrets[role])).status,
    (await budgets.get(id))?.limits.cost,
  ];
  expect(await set("launch", 1_000)).toEqual([403, 5]);
  expect(await set("launch", 3)).toEqual([200, 3]);
  expect(await set("answer", 8)).toEqual([200, 8]);
});

test("a launch with such a token gets at most what is configured; with one that may answer, what it asks for", async () => {
  const { side, post, secrets } = await startTokenBed({ budgets: { task: { ...NO_LIMITS, cost: 2 } } });
  const directory = join(side.folder, "work");
  mkdirSync(directory);
  await side.call("allow_directory", { directory });
  const launch = { description: "x", prompt: "!say x", agent: "general", host: "scripted", directory };
  const given = async (role: "launch" | "answer", more: object) => {
    const answer = await post("/v1/tasks", { ...launch, budget: "$1000 500h", ...more }, secrets[role]);
    const { id } = (await answer.json()) as { id: string };
    return (await side.store.budgets.get(`task:${id}`))?.limits.cost;
  };
  for (const more of [{}, { queue: {} }]) {
    expect([await given("launch", more), await given("answer", more)]).toEqual([2, 1_000]);
  }
  const { handle } = (await (
    await post(
      "/v1/board/launch_task",
      { prompt: "!say x", executor: "SCRIPTED", directory, budget: "$1000" },
      secrets.launch,
    )
  ).json()) as { handle: string };
  expect((await side.store.budgets.get(`task:${handle}`))?.limits.cost).toBe(2);
});
