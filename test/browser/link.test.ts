/**
 * The dashboard in a browser that the server cannot recognize as its user's: the link of `asyncagents link` grants
 * access.
 */
import { afterEach, expect, test } from "bun:test";
import { gate } from "../../src/hosts/scripted/script.ts";
import { startApi } from "../http/bed/api-bed.ts";
import { chromiumBed } from "./page-bed.ts";

const chromium = chromiumBed();
const geteuid = process.geteuid;

afterEach(() => {
  if (geteuid) process.geteuid = geteuid;
});

test("without it the page shows nothing and says what to do; with it everything works, and the token leaves the address", async () => {
  const api = await startApi();
  const prompt = api.world.script(gate("never"));
  const { id } = await api.client.launch({ description: "for its owner only", prompt, agent: "general" });
  // The kernel knows this browser's user: it is not the one that the server now believes to be its own.
  process.geteuid = () => (geteuid?.() ?? 0) + 1;
  const refused = await chromium.page(`${api.url}/`);
  await refused.getByText("asyncagents link").first().waitFor();
  expect(await refused.getByText("for its owner only").count()).toBe(0);

  const { page, problems, row } = await chromium.open(`${api.url}/?search=owner#token=${api.token}`);
  await row(id).waitFor();
  expect(page.url()).toBe(`${api.url}/?search=owner`);
  await page.goto(`${api.url}/tasks/${id}`);
  await page.getByRole("button", { name: "Cancel task" }).waitFor();
  await page.reload();
  await page.getByText("for its owner only").first().waitFor();
  const asked = page.waitForRequest((request) => request.url().endsWith("/cancel"));
  await page.getByRole("button", { name: "Cancel task" }).click();
  await page.getByRole("button", { name: "Cancel the task" }).click();
  expect((await (await asked).response())?.status()).toBe(200);
  expect(problems).toEqual([]);
}, 60_000);
