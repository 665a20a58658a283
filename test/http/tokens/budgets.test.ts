/** Who may raise a budget with a token. */
import { expect, test } from "bun:test";
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
