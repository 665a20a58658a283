/**
 * What needs a person, in a real Chromium on the real daemon: above the list, in the tab's title and icon, answered
 * with the keyboard alone, at the width of a desktop and of a phone.
 */
import { expect, test } from "bun:test";
import { boardBed } from "./board-bed.ts";
import { chromiumBed, type View } from "./page-bed.ts";

const chromium = chromiumBed();
const bed = boardBed({ "readme.txt": "hello\n" });

const launch = async (prompt: string) =>
  (await bed.client.operate("launch_task", { prompt, directory: bed.repo, executor: "SCRIPTED" })).handle;

const strip = ({ page }: View) => page.getByRole("region", { name: "Needs you" });
const entry = (view: View, title: string) => strip(view).locator("[data-needs]", { hasText: title });

/** The page's own policy forbids Playwright to wait inside it. */
async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  for (let looks = 0; looks < 800; looks++) {
    if (await holds()) return;
    await Bun.sleep(25);
  }
  throw new Error(`It never came to this: ${what}`);
}

const titled = ({ page }: View, title: RegExp) => until(String(title), async () => title.test(await page.title()));

test("a permission, a question and a failed run are answered from the list with the keyboard alone", async () => {
  const view = await chromium.open(`${bed.url}/`);
  const { page } = view;
  expect(await strip(view).count()).toBe(0);
  const plain = await page.locator("link[rel=icon]").getAttribute("href");
  const permission = await launch("Clean up\n!permit Delete the prices\n!say cleaned");
  await entry(view, "Clean up").waitFor();
  const question = await launch("Choose\n!ask Which colour?\n!say chosen");
  const failed = await launch("Break\n!fail It went wrong.");
  await titled(view, /^\(!3\) Tasks/);
  expect(await page.locator("link[rel=icon]").getAttribute("href")).not.toBe(plain);
  // The oldest is open, and the receipt says that it was seen here.
  await strip(view).getByText("Delete the prices").waitFor();
  const oldest = async () => (await bed.client.inbox()).entries[0];
  await until("a receipt", async () => (await oldest())?.seen.includes("dashboard") ?? false);
  expect((await bed.client.inbox()).entries.map(({ seen }) => seen)).toEqual([["dashboard"], [], []]);
  await page.keyboard.press("i");
  await page.locator("[data-needs=permission] > button:focus").waitFor();
  // The link, the message, then the buttons; allowing takes a moment to be possible.
  await strip(view).getByRole("button", { name: "Allow once" }).and(page.locator(":enabled")).waitFor();
  for (let tabs = 0; tabs < 3; tabs++) await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await titled(view, /^\(!2\)/);
  expect((await bed.client.task(permission)).phaseDetail).toMatchObject({ reply: "allowed once", by: "dashboard" });
  await page.keyboard.press("i");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Tab");
  await page.keyboard.type("blue");
  await page.keyboard.press("Control+Enter");
  await titled(view, /^\(!1\)/);
  expect((await bed.client.task(question)).phaseDetail).toMatchObject({ reply: "answered", by: "dashboard" });
  await strip(view).getByText("It went wrong.").waitFor();
  await page.keyboard.press("i");
  for (let tabs = 0; tabs < 2; tabs++) await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await strip(view).waitFor({ state: "detached" });
  expect((await bed.client.task(failed)).resultRetrievedAt).not.toBeNull();
  await titled(view, /^Tasks/);
  expect(await page.locator("link[rel=icon]").getAttribute("href")).toContain("favicon");
  expect(view.problems).toEqual([]);
});

test("what is too long for the list says so, and is answered where all of it is shown", async () => {
  const id = await launch(`Build\n!permit npm test ${"# all is well ".repeat(150)} ; rm -rf everything\n!say built`);
  const view = await chromium.open(`${bed.url}/`);
  const { page } = view;
  await entry(view, "Build").getByText("This is only its beginning").waitFor();
  expect(
    await strip(view)
      .getByRole("button", { name: /allow|reject/i })
      .count(),
  ).toBe(0);
  await entry(view, "Build").getByRole("link", { name: "Open the task" }).click();
  const form = page.locator("[data-asks=permission]");
  await form.getByText("rm -rf everything").waitFor();
  await form.getByRole("button", { name: "Reject" }).click();
  await until("its end", async () => (await bed.client.task(id)).status !== "running");
  await bed.client.read(id).catch(() => {});
  expect(view.problems).toEqual([]);
});

test("a budget is shown with its task and its batch, and is raised where it is used up", async () => {
  const id = await launch("Spend\n!write a.txt A\n!wait never.txt");
  const { batchId } = await bed.client.task(id);
  const budget = `batch:${batchId}`;
  await until("something was spent", async () => (await bed.client.task(id)).progress.cost > 0);
  await bed.client.setBudget(budget, { cost: 0.012, tasks: 5 });
  const view = await chromium.open(`${bed.url}/tasks/${id}`);
  const { page } = view;
  const bar = page.getByRole("progressbar", { name: "Budget of the batch" });
  await bar.waitFor();
  expect(await bar.getAttribute("aria-valuenow")).toBe("83");
  await page.getByText("$0.0100 of $0.0120, 1 of 5 tasks").waitFor();
  await bed.client.setBudget(budget, { cost: 0.005 });
  await until("its end", async () => (await bed.client.task(id)).status === "error");
  await page.goto(`${bed.url}/batches/${batchId}`);
  await page.getByText("used up", { exact: true }).waitFor();
  expect(await bar.getAttribute("aria-valuenow")).toBe("100");
  await page.goto(`${bed.url}/`);
  const usedUp = strip(view).locator("[data-needs=budget]", { hasText: batchId });
  // The oldest entry, so it is open.
  await usedUp.waitFor();
  await strip(view).getByLabel("New budget").fill("lots");
  await page.keyboard.press("Enter");
  await strip(view).getByText("is not a budget").waitFor();
  await strip(view).getByLabel("New budget").fill("$5");
  await page.keyboard.press("Enter");
  await usedUp.waitFor({ state: "detached" });
  expect((await bed.client.budgets({ id: budget }))[0]).toMatchObject({
    limits: { cost: 5, tasks: 5 },
    usedUpAt: null,
  });
  await bed.client.read(id);
  expect(view.problems).toEqual([]);
});

test("on a phone it fits, and elsewhere than on the list it is one line", async () => {
  const id = await launch(
    "A task whose description is far too long for a phone\n!permit Delete all the prices in the whole shop",
  );
  const view = await chromium.open(`${bed.url}/`, { width: 390 });
  const { page } = view;
  await strip(view).getByRole("button", { name: "Allow once" }).waitFor();
  expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(390);
  await strip(view).getByRole("link", { name: "Open the task" }).click();
  await page.waitForURL(/\/tasks\//);
  await page.locator("[data-asks]").waitFor();
  expect(await strip(view).locator("[data-needs]").count()).toBe(0);
  await strip(view).getByRole("button", { name: "Needs you: 1" }).waitFor();
  await bed.client.cancel(id);
  await strip(view).waitFor({ state: "detached" });
  expect(view.problems).toEqual([]);
});
