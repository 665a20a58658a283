/**
 * The board in a real Chromium on the real daemon, with scripted agents and real git: from an empty board to a merged
 * attempt, and what a person encounters on the way.
 */
import { beforeAll, expect, onTestFinished, test } from "bun:test";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { startApi } from "../http/bed/api-bed.ts";
import { boardBed, startBoardBed } from "./board-bed.ts";
import { chromiumBed, type View } from "./page-bed.ts";

const CART = "export function total(count: number): number {\n  return count * 3;\n}\n";
const FIXED = 'export const total = (count: number) => Math.max(0, count); // <b>"safe"</b>';
const HOSTILE = "<img src=x onerror=alert(1)> **stars**";

const chromium = chromiumBed();
const bed = boardBed({ "src/cart.ts": CART, "price.txt": "3\n" });
let projectId: string;
let repoId: string;

beforeAll(async () => {
  projectId = (await bed.client.operate("add_project", { name: "Greengrocer" })).project_id;
  repoId = (await bed.client.operate("add_repo", { project_id: projectId, path: bed.repo })).repo_id;
});

const open = (path: string, options = {}) => chromium.open(`${bed.url}${path}`, options);
const column = ({ page }: View, status: string) => page.locator(`[data-column=${status}]`);
const stands = ({ page }: View, state: string) => page.locator(`[data-attempt-id][data-state=${state}]`).waitFor();
const idIn = (address: string) => new URL(address).pathname.split("/").at(-1) ?? "";

async function worktreeOf(attemptId: string): Promise<string> {
  const { repos } = await bed.client.operate("get_attempt", { attempt_id: attemptId });
  return repos[0]?.path ?? "";
}

async function newItem(title: string, description?: string): Promise<string> {
  const input = { project_id: projectId, title, ...(description === undefined ? {} : { description }) };
  return (await bed.client.operate("create_task", input)).task_id;
}

async function newAttempt(itemId: string): Promise<string> {
  const repos = [{ repo_id: repoId, target_branch: "main" }];
  const input = { task_id: itemId, executor: "SCRIPTED", repos };
  return (await bed.client.operate("start_task_attempt", input)).attempt_id;
}

async function followUp({ page }: View, prompt: string, button: "Send" | "Queue"): Promise<void> {
  const form = page.getByRole("form", { name: "Follow up" });
  await form.getByRole("textbox").fill(prompt);
  await form.getByRole("button", { name: button, exact: true }).click();
}

test("an empty board says what to do; project, repository and work item are created on the page", async () => {
  const empty = await startBoardBed({ "readme.txt": "hello\n" });
  onTestFinished(() => empty.stop());
  const view = await chromium.open(`${empty.url}/board`);
  const { page, problems } = view;
  await page.getByRole("button", { name: "Add a project" }).click();
  await page.getByLabel("Name").fill("Bakery");
  await page.getByRole("button", { name: "Add project" }).click();
  await page.getByRole("button", { name: "Add a repository" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Folder").fill("/nowhere/at all");
  await dialog.getByRole("button", { name: "Add repository" }).click();
  await dialog.getByRole("alert").waitFor();
  await dialog.getByLabel("Folder").fill(empty.repo);
  await dialog.getByRole("button", { name: "Add repository" }).click();
  await dialog.waitFor({ state: "detached" });
  await page.keyboard.press("c");
  await dialog.getByLabel("Title").fill("Refuse a negative count");
  await dialog.getByLabel("Description").fill("In **src/cart.ts**.");
  await dialog.getByRole("button", { name: "Create" }).click();
  await column(view, "todo").getByText("Refuse a negative count").waitFor();
  const { repos } = await empty.client.operate("list_repos", { project_id: idIn(page.url()) });
  expect(repos).toHaveLength(1);
  expect(problems).toEqual([]);
});

test("an attempt is started, followed, continued, answered and merged on the page, without a reload", async () => {
  await newItem("Never go below", `In **src/cart.ts**:\n\n!write src/cart.ts ${FIXED}\n!wait go.txt\n!say It is done.`);
  const view = await open(`/board/${projectId}`);
  const { page, problems } = view;
  await page.evaluate("window.stillTheSamePage = true");
  await page.getByText("Never go below").click();
  await page.getByRole("region", { name: "Description" }).getByText("In **src/cart.ts**:").waitFor();
  await page.getByLabel("Runs on").selectOption("SCRIPTED");
  expect(await page.getByLabel(/^Target branch/).inputValue()).toBe("main");
  await page.getByRole("button", { name: "Start", exact: true }).click();
  await stands(view, "running");
  const attemptId = idIn(page.url());
  await page.getByRole("region", { name: "Conversation" }).getByText("write", { exact: true }).first().waitFor();
  await writeFile(join(await worktreeOf(attemptId), "go.txt"), "go\n");
  await stands(view, "completed");
  await page.getByRole("region", { name: "Result" }).getByText("It is done.").waitFor();

  await page.getByRole("tab", { name: /^Changes/ }).click();
  const file = page.locator("[data-file='src/cart.ts']");
  await file.locator(".diff-line[data-kind=added] .hljs-keyword", { hasText: "export" }).waitFor();
  expect(await file.locator(".diff-line[data-kind=removed]").count()).toBe(3);
  expect(await file.locator(".diff-line[data-kind=added] .diff-code").textContent()).toBe(FIXED);
  expect(await file.locator(".diff-line[data-kind=added] .diff-number").last().textContent()).toBe("1");

  await followUp(view, "!ask Which currency?\n!permit Delete the prices\n!say Both are settled.", "Send");
  await page.getByRole("form", { name: "Answer" }).getByLabel("Which currency?").fill("euro");
  await followUp(view, "!write second.txt more\n!say The second is done.", "Queue");
  await page.locator("[data-queued='1']").waitFor();
  await page.getByRole("form", { name: "Answer" }).getByRole("button", { name: "Answer" }).click();
  await page.locator("[data-asks=permission]").getByText("Delete the prices").waitFor();
  await page.getByRole("link", { name: /^Its task/ }).click();
  await page.waitForURL(/\/tasks\//);
  await page.getByRole("button", { name: "Allow once" }).click();
  await page.locator("[data-asks]").waitFor({ state: "detached" });
  await page.goBack();
  await page.getByRole("region", { name: "Result" }).getByText("The second is done.").waitFor();
  await page.getByRole("tab", { name: /^Conversation/ }).click();
  await page.getByRole("region", { name: "Conversation" }).getByText("Both are settled.", { exact: true }).waitFor();
  await page.getByRole("tab", { name: /^Changes/ }).click();
  await page.locator("[data-file='second.txt']").waitFor();

  await page.getByRole("button", { name: "Merge" }).click();
  await page.getByRole("dialog").getByLabel("Commit message").fill("Merged on the page");
  await page.getByRole("dialog").getByRole("button", { name: "Merge" }).click();
  await stands(view, "merged");
  await page.getByText("This is what the merge changed.").waitFor();
  await page.locator("[data-file='second.txt']").waitFor();
  await page.keyboard.press("Escape");
  await column(view, "done").getByText("Never go below").waitFor();
  expect(await page.evaluate("window.stillTheSamePage")).toBe(true);
  expect(await bed.git("show", "main:src/cart.ts")).toBe(FIXED);
  expect(await bed.git("show", "main:second.txt")).toBe("more");
  expect(await bed.git("log", "--format=%s", "main")).toContain("Merged on the page");
  expect(problems).toEqual([]);
}, 60_000);

test("a card moves by keys, by its menu and by drag and drop, and shows its attempt's progress by itself", async () => {
  const itemId = await newItem("A card on its way", "!wait later.txt\n!fail It went wrong.");
  const view = await open(`/board/${projectId}`);
  const { page, problems } = view;
  const card = (status: string) => column(view, status).locator(`[data-item-id="${itemId}"]`);
  const status = async () => (await bed.client.operate("get_task", { task_id: itemId })).task.status;
  await card("todo").getByRole("link").focus();
  await page.keyboard.press("Shift+ArrowRight");
  await card("inprogress").waitFor();
  await page.keyboard.press("Shift+ArrowRight");
  await card("inreview").waitFor();
  await page.getByLabel("Move “A card on its way”").selectOption("cancelled");
  await card("cancelled").waitFor();
  await card("cancelled").dragTo(column(view, "todo"));
  await card("todo").waitFor();
  await page.waitForFunction("document.querySelector('[aria-live=polite].sr-only')?.textContent.includes('To do')");
  await page.reload();
  await card("todo").waitFor();
  expect(await status()).toBe("todo");
  // A page in the background does not poll: everything shown from here on came by events.
  await page.evaluate("Object.defineProperty(document, 'visibilityState', { get: () => 'hidden' })");
  await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
  const attemptId = await newAttempt(itemId);
  await card("inprogress").locator("[data-attempt=live]").waitFor();
  await writeFile(join(await worktreeOf(attemptId), "later.txt"), "");
  await card("inreview").locator("[data-attempt=failed]").waitFor();
  expect(problems).toEqual([]);
});

test("a card that is being moved stays where it was put, whatever else changes in the meantime", async () => {
  const itemId = await newItem("On a slow way");
  const view = await open(`/board/${projectId}`);
  const { page, problems } = view;
  const answer = Promise.withResolvers<void>();
  await page.route("**/v1/board/update_task", async (route) => {
    await answer.promise;
    await route.continue();
  });
  await column(view, "todo").locator(`[data-item-id="${itemId}"]`).getByRole("link").focus();
  await page.keyboard.press("Shift+ArrowRight");
  await column(view, "inprogress").locator(`[data-item-id="${itemId}"]`).waitFor();
  await page.evaluate(`new MutationObserver(() => {
    window.cameBack ||= document.querySelector("[data-column=todo] [data-item-id='${itemId}']") !== null;
  }).observe(document.body, { subtree: true, childList: true })`);
  const another = await open(`/board/${projectId}`);
  await newItem("News of somebody else");
  await column(another, "todo").getByText("News of somebody else").waitFor();
  answer.resolve();
  await column(view, "todo").getByText("News of somebody else").waitFor();
  await column(view, "inprogress").locator(`[data-item-id="${itemId}"]`).waitFor();
  expect(await page.evaluate("window.cameBack")).toBe(false);
  expect(problems).toEqual([]);
});

test("a card moved before the columns are loaded is shown where it was put", async () => {
  const itemId = await newItem("Faster than the page");
  const view = await open("/");
  const { page, problems } = view;
  const [load, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  await page.route("**/v1/board/list_tasks", async (route) => {
    if (route.request().postDataJSON().status === "inprogress") await load.promise;
    await route.continue();
  });
  await page.route("**/v1/board/update_task", async (route) => {
    await answer.promise;
    await route.continue();
  });
  await page.goto(`${bed.url}/board/${projectId}`);
  await column(view, "todo").locator(`[data-item-id="${itemId}"]`).getByRole("link").focus();
  await page.keyboard.press("Shift+ArrowRight");
  load.resolve();
  await column(view, "inprogress").locator(`[data-item-id="${itemId}"]`).waitFor();
  expect(await column(view, "todo").locator(`[data-item-id="${itemId}"]`).count()).toBe(0);
  answer.resolve();
  await page.waitForFunction(
    "document.querySelector('[aria-live=polite].sr-only')?.textContent.includes('In progress')",
  );
  expect(problems).toEqual([]);
});

test("a conflict names its files and changes nothing; a removal that would lose work is rejected, then forced", async () => {
  const itemId = await newItem(HOSTILE, "!write price.txt twelve");
  const attemptId = await newAttempt(itemId);
  await bed.client.operate("get_attempt", { attempt_id: attemptId, wait_ms: 20_000 });
  await writeFile(join(bed.repo, "price.txt"), "5\n");
  await bed.git("commit", "-qam", "Another price");
  const before = await bed.git("rev-parse", "main");
  const view = await open(`/attempts/${attemptId}`);
  const { page, problems } = view;
  await page.getByRole("heading", { name: HOSTILE }).waitFor();
  await page.locator("[data-file='price.txt'] .diff-line[data-kind=added]").waitFor();
  await page.getByRole("button", { name: "Merge" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Merge" }).click();
  await page.getByLabel("Files in conflict").getByText("price.txt").waitFor();
  expect(await bed.git("rev-parse", "main")).toBe(before);
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Remove" }).click();
  const dialog = page.getByRole("dialog");
  expect(await dialog.getByLabel("Discard unmerged work").count()).toBe(0);
  await dialog.getByRole("button", { name: "Remove" }).click();
  await dialog.getByLabel("Discard unmerged work").check();
  await dialog.getByRole("button", { name: "Remove" }).click();
  await page.waitForURL(new RegExp(`/items/${itemId}`));
  await page.getByText("No attempts yet.").waitFor();
  expect(await page.locator("main img").count()).toBe(0);
  expect(problems).toEqual([]);
});

test("a truncated diff names and counts every file, and can be merged only by someone who accepts that", async () => {
  const attemptId = await newAttempt(await newItem("A great deal", "!write small.txt x"));
  await bed.client.operate("get_attempt", { attempt_id: attemptId, wait_ms: 20_000 });
  const path = await worktreeOf(attemptId);
  for (const [index, name] of ["large-1.txt", "large-2.txt", "large-3.txt"].entries()) {
    await writeFile(join(path, name), `${"It is long, and it goes on and on. ".repeat(3)}\n`.repeat(4000 + index));
  }
  const view = await open(`/attempts/${attemptId}?tab=changes`);
  const { page, problems } = view;
  const hidden = (name: string) => page.locator(`[data-hidden-file='${name}']`);
  await page.getByRole("heading", { name: "3 changed files not shown" }).waitFor();
  expect(await hidden("large-2.txt").textContent()).toBe("large-2.txt+4,001−0");
  expect(await hidden("small.txt").textContent()).toBe("small.txt+1−0");
  const first = page.locator("[data-file='large-1.txt'] summary");
  expect(await first.textContent()).toContain("+4,000");
  await first.getByText("in part").waitFor();
  await page.getByRole("button", { name: "Show more" }).click();
  await page.getByRole("heading", { name: "1 changed file not shown" }).waitFor();
  await page.getByRole("button", { name: "Merge" }).click();
  const dialog = page.getByRole("dialog");
  const unseen = dialog.getByRole("region", { name: "Changes that were not shown" });
  await unseen.getByText("1 file not shown at all, 1 file shown in part").waitFor();
  expect(await unseen.getByRole("listitem").allTextContents()).toEqual(["large-3.txt (in part)", "small.txt"]);
  expect(await dialog.getByRole("button", { name: "Merge" }).isDisabled()).toBe(true);
  await unseen.getByRole("checkbox").check();
  await dialog.getByRole("button", { name: "Merge" }).click();
  await stands(view, "merged");
  expect(problems).toEqual([]);
}, 60_000);

test("a column of hundreds is drawn in part and loads more on request", async () => {
  const { project_id } = await bed.client.operate("add_project", { name: "Bulk" });
  for (let index = 0; index < 120; index++) {
    await bed.client.operate("create_task", { project_id, title: `Bulk ${index}` });
  }
  const view = await open(`/board/${project_id}`);
  const { page, problems } = view;
  const todo = column(view, "todo");
  await todo.getByText("50+").waitFor();
  await todo.getByText("Bulk 119").waitFor();
  expect(await page.locator("article").count()).toBeLessThan(40);
  // The filter searches all work items, in any word order, and not only the fifty that are loaded.
  await page.keyboard.press("/");
  await page.keyboard.type("7 bulk");
  await todo.getByText("21 found").waitFor();
  await page.getByRole("searchbox").fill("");
  await todo.getByText("50+").waitFor();
  await todo.locator(".overflow-y-auto").evaluate((element) => element.scrollTo(0, element.scrollHeight));
  await todo.getByRole("button", { name: "Show more" }).click();
  await todo.getByText("120", { exact: true }).waitFor();
  expect(problems).toEqual([]);
});

test("a server without a board explains the board and how to get it", async () => {
  const api = await startApi();
  const { page, problems } = await chromium.open(`${api.url}/board`);
  await page.getByText("asyncagents up", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Try again" }).waitFor();
  expect(problems).toEqual([]);
  // Must close before its server stops.
  await chromium.closePages();
});

test("on a phone nothing is wider than the screen", async () => {
  const itemId = await newItem(
    `${"An endless".repeat(28)} title`,
    `\`${"code".repeat(80)}\`\n!write ${"long".repeat(40)}.txt x`,
  );
  const attemptId = await newAttempt(itemId);
  await bed.client.operate("get_attempt", { attempt_id: attemptId, wait_ms: 20_000 });
  for (const path of [`/board/${projectId}`, `/items/${itemId}`, `/attempts/${attemptId}?tab=changes`]) {
    const { page, problems } = await open(path, { width: 360 });
    await page.getByText("An endless").first().waitFor();
    expect([path, await page.evaluate("document.documentElement.scrollWidth"), problems]).toEqual([path, 360, []]);
  }
});
