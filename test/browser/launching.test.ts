/** A newcomer's first run, and what can be done with a failed task, on a real daemon. */
import { expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { boardBed } from "./board-bed.ts";
import { chromiumBed, type View } from "./page-bed.ts";

const chromium = chromiumBed();
const bed = boardBed({ "readme.txt": "hello\n" });

const open = (path: string): Promise<View> => chromium.open(`${bed.url}${path}`);

async function fillLaunch(page: Page, prompt: string): Promise<void> {
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Prompt").fill(prompt);
  await dialog.getByLabel("Folder").fill(bed.repo);
  await dialog.getByLabel("Runs on").selectOption("scripted");
}

/** Launches a task and returns its id once it has ended. */
async function ended(prompt: string): Promise<string> {
  const { id } = await bed.client.launch({
    description: "From outside",
    prompt,
    host: "scripted",
    directory: bed.repo,
  });
  await bed.client.operate("wait_tasks", { handles: [id], wait_ms: 20_000 });
  return id;
}

test("a fresh daemon launches a task in any folder; typed text survives Escape, back and a click outside", async () => {
  const { page, problems } = await open("/");
  await page.keyboard.press("n");
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Prompt").waitFor();
  await dialog.locator("textarea:focus").waitFor();
  await fillLaunch(page, "Say hello\n!say hello from the page");
  const kept = async (reopen: () => Promise<unknown>) => {
    await reopen();
    // By its element: a closed dialog has no role any more, but exists until the page has reacted.
    await page.locator("dialog").waitFor({ state: "detached" });
    await page.keyboard.press("n");
    expect(await dialog.getByLabel("Prompt").inputValue()).toContain("hello from the page");
    expect(await dialog.getByLabel("Folder").inputValue()).toBe(bed.repo);
  };
  await kept(() => page.keyboard.press("Escape"));
  await kept(() => page.mouse.click(5, 5));
  await kept(async () => {
    await page.keyboard.press("Escape");
    await page.goto(`${bed.url}/stats`);
    await page.goBack();
    await page.locator("[data-connection=live]").first().waitFor({ state: "attached" });
  });
  await dialog.getByLabel("Prompt").press("Control+Enter");
  await page.waitForURL(/\/tasks\//);
  await page.getByText("hello from the page").first().waitFor();
  await page.locator("header[data-status=completed]").waitFor();
  expect(await page.title()).toContain("Say hello");
  await page.keyboard.press("n");
  await dialog.getByLabel("Prompt").waitFor();
  expect(await dialog.getByLabel("Prompt").inputValue()).toBe("");
  expect(problems).toEqual([]);
}, 120_000);

test("a failed task is run again with another prompt, resumed, and forked", async () => {
  const id = await ended("!fail no luck");
  const { page, problems } = await open(`/tasks/${id}`);
  const next = page.getByRole("form", { name: "Resume" });
  await next.getByRole("button", { name: "Run again…" }).click();
  const prompt = page.getByRole("dialog").getByLabel("Prompt");
  expect(await prompt.inputValue()).toBe("!fail no luck");
  await prompt.fill("!say better now");
  await prompt.press("Control+Enter");
  await page.waitForURL((url) => !url.pathname.includes(id));
  await page.getByText("better now").first().waitFor();

  await page.goto(`${bed.url}/tasks/${id}`);
  await next.getByRole("textbox").fill("!say forked");
  await next.getByRole("button", { name: "Fork" }).click();
  await page.waitForURL((url) => !url.pathname.includes(id));
  await page.getByText("forked").first().waitFor();

  await page.goto(`${bed.url}/tasks/${id}`);
  await next.getByRole("textbox").fill("!say resumed");
  await next.getByRole("textbox").press("Control+Enter");
  await page.locator(`[data-task-id="${id}"][data-status=completed]`).waitFor();
  expect((await bed.client.task(id)).result).toBe("resumed");
  expect(problems).toEqual([]);
}, 120_000);

test("an unknown address is reported on the page", async () => {
  const page = await chromium.page(`${bed.url}/nowhere/at/all`);
  await page.getByText("There is nothing at this address").waitFor();
  await page.getByRole("link", { name: "All tasks" }).click();
  await page
    .getByRole("heading", { name: /Tasks|No tasks/ })
    .first()
    .waitFor({ state: "attached" });
}, 60_000);
