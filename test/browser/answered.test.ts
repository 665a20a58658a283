/**
 * One request, several people who answer it: two tabs of the real daemon in a real Chromium, and the command line.
 * Whoever is second reads what was answered, and from where.
 */
import { expect, test } from "bun:test";
import { boardBed } from "./board-bed.ts";
import { chromiumBed, type View } from "./page-bed.ts";

const chromium = chromiumBed();
const bed = boardBed({ "readme.txt": "hello\n" });

const launch = async (prompt: string) =>
  (await bed.client.operate("launch_task", { prompt, directory: bed.repo, executor: "SCRIPTED" })).handle;

async function tabs(id: string): Promise<[View, View]> {
  const address = `${bed.url}/tasks/${id}`;
  const both: [View, View] = [await chromium.open(address), await chromium.open(address)];
  for (const { page } of both) await page.locator("[data-asks]").waitFor();
  return both;
}

const note = ({ page }: View) => page.getByRole("status", { name: "The request is closed" });

test("the tab that did not answer shows the other one's answer, until it is dismissed or another request comes", async () => {
  const id = await launch("Asks\n!permit Delete the prices\n!wait go.txt\n!permit And the rest\n!say done");
  const [one, other] = await tabs(id);
  await one.page.getByRole("button", { name: "Allow once" }).click();
  await note(other).getByText("Already allowed once, from the dashboard").waitFor();
  await note(other).getByText("Delete the prices").waitFor();
  await one.page.locator("[data-asks]").waitFor({ state: "detached" });
  expect(await note(one).count()).toBe(0);
  await Bun.write(`${bed.repo}/go.txt`, "");
  await other.page.locator("[data-asks]").getByText("And the rest").waitFor();
  expect(await note(other).count()).toBe(0);
  // A rejection without a message ends the run: it is still shown.
  await one.page.getByRole("button", { name: "Reject" }).click();
  await note(other).getByText("Already rejected, from the dashboard").waitFor();
  await note(other).getByRole("button", { name: "Dismiss" }).click();
  await note(other).waitFor({ state: "detached" });
  expect(await note(one).count()).toBe(0);
  expect([...one.problems, ...other.problems]).toEqual([]);
});

test("of two tabs that answer at once, the late one is told which answer counts", async () => {
  const id = await launch("Asks\n!permit Delete the prices\n!wait never.txt");
  const [one, other] = await tabs(id);
  const sent = Promise.withResolvers<void>();
  await other.page.route(/\/answer$/, async (route) => {
    await sent.promise;
    await route.continue();
  });
  await other.page.getByRole("button", { name: "Reject" }).click();
  await one.page.getByRole("button", { name: "Always allow" }).click();
  await one.page.locator("[data-asks]").waitFor({ state: "detached" });
  sent.resolve();
  await note(other).getByText("Your answer came too late: already always allowed, from the dashboard").waitFor();
  await bed.client.cancel(id);
  expect([...one.problems, ...other.problems]).toEqual([]);
});

test("a tab and the command line tell each other", async () => {
  const first = await launch("Asks\n!ask Which colour?\n!wait never.txt");
  const [one] = await tabs(first);
  expect(await bed.cli("answer", first, "red")).toMatchObject({ code: 0 });
  await note(one).getByText('Already answered "red", from the command line').waitFor();
  await bed.client.cancel(first);
  const second = await launch("Asks\n!permit Delete the prices\n!wait never.txt");
  const [tab] = await tabs(second);
  await tab.page.getByRole("button", { name: "Allow once" }).click();
  await tab.page.locator("[data-asks]").waitFor({ state: "detached" });
  const late = await bed.cli("answer", second, "--reject");
  expect(late).toMatchObject({
    code: 1,
    out: "",
    err: expect.stringContaining("was already allowed once, from the dashboard"),
  });
  await bed.client.cancel(second);
  expect([...one.problems, ...tab.problems]).toEqual([]);
});

test("a click that meets the next request instead of the one before allows nothing", async () => {
  const id = await launch("Asks\n!permit Run the tests\n!permit Delete everything\n!wait never.txt");
  const { page } = await chromium.open(`${bed.url}/tasks/${id}`);
  const asks = page.locator("[data-asks]");
  await asks.getByText("Run the tests").waitFor();
  await asks.getByRole("button", { name: "Allow once" }).click();
  await asks.getByText("Delete everything").waitFor();
  for (const name of ["Allow once", "Always allow"]) {
    await asks.getByRole("button", { name }).dispatchEvent("click");
  }
  await asks.locator("button:enabled", { hasText: "Allow once" }).waitFor();
  expect((await bed.client.task(id)).phaseDetail).toMatchObject({ kind: "waiting", text: "Delete everything" });
  await asks.getByRole("button", { name: "Allow once" }).click();
  await asks.waitFor({ state: "detached" });
  await bed.client.cancel(id);
});
