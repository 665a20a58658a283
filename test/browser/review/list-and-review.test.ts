/**
 * What a person does with many tasks and with a large change, in a real Chromium on the real daemon: sort, filter,
 * cancel, retry and export what matches; review a diff with comments that become one follow-up.
 */
import { beforeAll, expect, test } from "bun:test";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { boardBed } from "../board-bed.ts";
import { chromiumBed } from "../page-bed.ts";

const chromium = chromiumBed();
const bed = boardBed({ "src/cart.ts": "export const count = 3;\n", "src/old.ts": "gone\n" });

beforeAll(async () => {
  for (const [description, prompt] of [
    ["Wait for one", "!wait never"],
    ["Wait for two", "!wait never"],
    ["Fail at once", "!fail It broke."],
    ["Say something", "!say hello"],
  ] as const) {
    await bed.client.launch({ description, prompt, host: "scripted", directory: bed.repo });
  }
});

const rows = (page: Page) => page.locator("[role=row][data-task-id]");

test("a list is sorted and filtered by its address, and all that match are cancelled, retried and exported", async () => {
  const { page, problems } = await chromium.open(`${bed.url}/?host=scripted&since=1h`);
  await page.getByText("4 matches").waitFor();
  await page.locator("[role=columnheader]").getByRole("button", { name: "Task" }).click();
  await page.waitForURL(/sort=description&order=asc/);
  await page.locator("[role=columnheader][aria-sort=ascending]").getByText("Task").waitFor();
  await rows(page).nth(3).getByText("Wait for two").waitFor();
  expect(await rows(page).first().textContent()).toContain("Fail at once");

  await page.getByRole("button", { name: "More filters" }).click();
  const panel = page.getByRole("region", { name: "More filters" });
  await panel.getByLabel("In folder").fill("shop");
  await panel.getByText("A folder begins with “/”.").waitFor();
  await panel.getByLabel("In folder").fill(bed.repo);
  await panel.getByRole("button", { name: "Apply" }).click();
  await page.waitForURL(/directory=/);

  await page.getByRole("button", { name: "Cancel all…" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("heading", { name: "Cancel 2 tasks?" }).waitFor();
  // One that comes to match later stays, and one that ends meanwhile is told.
  const late = await bed.client.launch({
    description: "Late",
    prompt: "!wait never",
    host: "scripted",
    directory: bed.repo,
  });
  const [gone] = (await bed.client.tasks({ search: "wait two" })).tasks;
  await bed.client.cancel(gone?.id ?? "");
  await dialog.getByRole("button", { name: "Cancel 2 tasks" }).click();
  await dialog.locator("[data-bulk=over]").waitFor();
  expect(await dialog.locator("[data-bulk]").textContent()).toBe("1 task cancelled, 1 not");
  await dialog.getByRole("list", { name: "What failed" }).getByText("Wait for two").waitFor();
  expect((await bed.client.task(late.id)).status).toBe("running");
  await dialog.getByRole("button", { name: "Close" }).last().click();

  await page.goto(`${bed.url}/?status=error&host=scripted`);
  await page.getByRole("button", { name: "Retry all…" }).click();
  await dialog.getByRole("button", { name: "Retry 1 task" }).click();
  await dialog.getByText("1 task launched again").waitFor();
  await dialog.getByRole("button", { name: "Close" }).last().click();
  await page.getByText("2 matches").waitFor();

  await page.getByRole("button", { name: "Export all…" }).click();
  const saved = page.waitForEvent("download");
  await dialog.getByRole("button", { name: "Export 2 tasks" }).click();
  const lines = (await readFile(await (await saved).path(), "utf8")).trim().split("\n");
  expect(lines.map((line) => JSON.parse(line).error)).toEqual(["It broke.", "It broke."]);
  expect(problems).toEqual([]);
}, 60_000);

test("a diff is reviewed by keys: tree, viewed marks, two columns, and comments that survive a reload", async () => {
  const { project_id } = await bed.client.operate("add_project", { name: "Shop" });
  const { repo_id } = await bed.client.operate("add_repo", { project_id, path: bed.repo });
  const description = "!write src/cart.ts export const count = 4;\n!write docs/new.md hello\n!say ok";
  const { task_id } = await bed.client.operate("create_task", { project_id, title: "Change it", description });
  const { attempt_id } = await bed.client.operate("start_task_attempt", {
    task_id,
    executor: "SCRIPTED",
    repos: [{ repo_id, target_branch: "main" }],
  });
  const { repos } = await bed.client.operate("get_attempt", { attempt_id, wait_ms: 20_000 });
  const { page, problems } = await chromium.open(`${bed.url}/attempts/${attempt_id}?tab=changes`, { width: 1600 });
  await page.getByText("0 of 2 viewed").waitFor();
  const file = page.locator("[data-file='src/cart.ts']");

  await page.locator("[data-tree-file='src/cart.ts']").click();
  await file.locator("[data-comment-button]").first().focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.keyboard.type("Make it 5.");
  await page.reload();
  expect(await file.getByLabel("Comment on line 1").last().inputValue()).toBe("Make it 5.");

  await page.getByRole("button", { name: "Side by side" }).click();
  await file.locator(".diff-pair").first().waitFor();
  expect(await file.locator(".diff-pair").count()).toBe(1);
  await page.locator("[data-file='docs/new.md']").getByLabel("Viewed").check();
  await page.getByText("1 of 2 viewed").waitFor();
  await writeFile(join(repos[0]?.path ?? "", "docs/new.md"), "hello again\n");
  await page.reload();
  await page.getByText("0 of 2 viewed").waitFor();
  await file.locator(".diff-pair").first().waitFor();

  await page.getByRole("button", { name: "Send 1 comment…" }).click();
  await page.getByRole("region", { name: "The follow-up" }).getByText('Quoted: "export const count = 4;"').waitFor();
  await page.getByRole("button", { name: "Send", exact: true }).last().click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Send 1 comment…" }).waitFor({ state: "detached" });
  await page.getByRole("tab", { name: /^Conversation/ }).click();
  await page.getByRole("region", { name: "Conversation" }).getByText("Comment: Make it 5.").waitFor();
  expect(problems).toEqual([]);
}, 60_000);
