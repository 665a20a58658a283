/**
 * The page without a mouse and without sight: axe finds no problem in any state in either theme, keys move the focus,
 * and a task's request is announced.
 */
import { beforeAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";
import { createClient } from "../../src/client/client.ts";
import type { BackgroundTask } from "../../src/protocol/tasks.ts";
import { boardBed } from "./board-bed.ts";
import { chromiumBed, type View } from "./page-bed.ts";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const WIDTH_PX = { wide: 1280, phone: 390 } as const;

const chromium = chromiumBed({ keepsPages: true });
const bed = boardBed({ "src/cart.ts": "export const a = 1;\n" });
let view: View;
let page: Page;

beforeAll(async () => {
  view = await chromium.open(`${bed.url}/`);
  ({ page } = view);
});

interface Finding {
  id: string;
  nodes: { html: string; failureSummary?: string }[];
}

/** What axe finds in both themes; the second time only what depends on colours. */
async function violations(state: string): Promise<string[]> {
  const found: string[] = [];
  for (const [colorScheme, only] of [
    ["light", "undefined"],
    ["dark", "{ runOnly: ['color-contrast'] }"],
  ] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    if (!(await page.evaluate<boolean>("'axe' in window"))) await page.evaluate(AXE);
    const findings = await page.evaluate<Finding[]>(`axe.run(document, ${only}).then((run) => run.violations)`);
    for (const { id, nodes } of findings) {
      const where = nodes.map(
        ({ html, failureSummary = "" }) => `${html.slice(0, 160)} ${failureSummary.slice(0, 200)}`,
      );
      found.push(`${state}, ${colorScheme}: ${id}\n    ${where.slice(0, 3).join("\n    ")}`);
    }
  }
  return found;
}

async function look(found: string[], state: string, path: string | null, ready: string): Promise<void> {
  // Like a link on the page: without reloading it, which would also unload axe.
  const go = `history.pushState(null, "", "${path}"); dispatchEvent(new Event("popstate"))`;
  if (path !== null) await page.evaluate(go);
  await page.locator(ready).first().waitFor();
  found.push(...(await violations(state)));
}

let made: Promise<{ project_id: string; repo_id: string }> | null = null;

function project(): Promise<{ project_id: string; repo_id: string }> {
  made ??= bed.client.operate("add_project", { name: "Greengrocer" }).then(async ({ project_id }) => {
    return { project_id, repo_id: (await bed.client.operate("add_repo", { project_id, path: bed.repo })).repo_id };
  });
  return made;
}

async function attempt(title: string, description: string): Promise<{ task_id: string; attempt_id: string }> {
  const { project_id, repo_id } = await project();
  const { task_id } = await bed.client.operate("create_task", { project_id, title, description });
  const input = { task_id, executor: "SCRIPTED", repos: [{ repo_id, target_branch: "main" }] };
  return { task_id, attempt_id: (await bed.client.operate("start_task_attempt", input)).attempt_id };
}

/** Like a model, over MCP. */
async function asksForApproval(): Promise<void> {
  const model = createClient({ url: bed.url, token: bed.token, origin: { door: "model", depth: 0 } });
  const { project_id } = await project();
  await model.operate("add_repo", { project_id, path: bed.repo, name: "again", setup: "npm ci\n".repeat(30) });
}

async function waitingTask(): Promise<BackgroundTask> {
  for await (const event of bed.client.events()) {
    const tasks = "snapshot" in event ? event.snapshot.tasks : "task" in event ? [event.task] : [];
    const task = tasks.find(({ phase }) => phase === "waiting");
    if (task) return task;
  }
  throw new Error("The stream ended before a task was waiting.");
}

test("axe finds no problem in any state, in both themes", async () => {
  const found: string[] = [];
  await look(found, "empty list", "/", "h2");
  await look(found, "board without a project", "/board", "h1");
  await look(found, "unknown address", "/tasks/a/b", "main");
  const { project_id } = await project();
  await look(found, "empty board", `/board/${project_id}`, "[data-column]");
  const done = await attempt(
    "Write it",
    "!write src/cart.ts const b = 2;\n!say ## Done\n\n`x` and\n\n```ts\nlet c = 3;\n```",
  );
  const failed = await attempt("Fail", "!fail It went wrong.");
  for (const { attempt_id } of [done, failed]) {
    await bed.client.operate("get_attempt", { attempt_id, wait_ms: 20_000 });
  }
  const asking = await attempt("Ask", "!write notes.txt x\n!permit Delete the prices");
  const task = await waitingTask();
  const ended = (await bed.client.tasks({ status: ["completed"] })).tasks[0];
  const broken = (await bed.client.tasks({ status: ["error"] })).tasks[0];
  await look(found, "list", "/", "[role=row][data-task-id]");
  await look(found, "needs you: a failed run", null, "[data-needs=failed] button:has-text('Mark as read')");
  await page.locator("[data-needs=permission] > button").first().click();
  await look(found, "needs you: a permission", null, "[data-needs=permission] button:has-text('Always allow')");
  await page.keyboard.press("j");
  await look(found, "list with a selection", null, "[role=row][aria-selected=true]");
  await look(found, "filtered list", "/?host=scripted&sort=cost", "text=Cancel all…");
  await page.getByRole("button", { name: "More filters" }).click();
  await look(found, "more filters", null, "#more-filters");
  await page.getByRole("button", { name: "Cancel all…" }).click();
  await look(found, "cancel all that match", null, "dialog[open] button:has-text('Cancel 1 task')");
  await page.keyboard.press("Escape");
  await look(found, "no match", "/?search=nothing-like-it", "h2");
  await look(found, "waiting task", `/tasks/${task.id}`, "[data-asks=permission]");
  await look(found, "ended task", `/tasks/${ended?.id}`, "[aria-label=Conversation] .markdown");
  await page.locator("[data-tool-state] summary").first().click();
  await look(found, "open tool call", null, "[data-tool-state] pre");
  await look(found, "failed task", `/tasks/${broken?.id}`, "[aria-label=Error]");
  await look(found, "no such task", "/tasks/ses_nothing", "main [role=alert]");
  await look(found, "batch", `/batches/${task.batchId}`, "[data-run] [data-span=waiting]");
  bed.start("runner", "--hosts", "scripted", "--label", "gpu");
  await look(found, "stats", "/stats", "[data-runner]");
  const queued = await bed.cli("run", "--queue", "--host", "scripted", "--label", "other", "Wait for it");
  await look(found, "queued task", `/tasks/${queued.out.trim()}`, "text=waits for a runner");
  await look(found, "board", `/board/${project_id}`, "article");
  await page.keyboard.press("c");
  await look(found, "new work item", null, "dialog[open]");
  await look(found, "work item", `/items/${done.task_id}`, "[aria-label=Attempts] li");
  const { attempt_id } = asking;
  await bed.client.operate("follow_up", { attempt_id, action: "queue", prompt: "Then go on." });
  await look(found, "waiting attempt", `/attempts/${attempt_id}`, "[data-asks=permission]");
  await look(found, "queued follow-ups", null, "[data-queued] li");
  await look(found, "changes", `/attempts/${done.attempt_id}?tab=changes`, ".diff-line .hljs-keyword");
  await page.locator("[data-comment-button]").first().focus();
  await page.keyboard.press("Enter");
  await look(found, "comment", null, "[data-comment] textarea");
  await page.keyboard.type("Rename it.");
  await page.getByRole("button", { name: "Send 1 comment…" }).click();
  await look(found, "comments as a follow-up", null, "dialog[open] [aria-label='The follow-up']");
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Merge" }).click();
  await look(found, "merge", null, "dialog[open]");
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Remove" }).click();
  await look(found, "remove", null, "dialog[open]");
  await page.keyboard.press("Escape");
  await page.keyboard.press("?");
  await look(found, "shortcuts", null, "dialog[open]");
  await page.keyboard.press("Escape");
  await page.keyboard.press("Control+k");
  await look(found, "command palette", null, "dialog[open] [role=option]");
  await page.keyboard.press("Escape");
  await page.keyboard.press("n");
  await look(found, "launch", null, "dialog[open] :is(form, p)");
  await page.keyboard.press("Escape");
  await page.setViewportSize({ width: WIDTH_PX.phone, height: 800 });
  await look(found, "list on a phone, with what needs you", "/", "[data-needs]");
  await look(found, "stats on a phone", "/stats", "[data-runner]");
  await look(found, "task on a phone", `/tasks/${task.id}`, "[data-asks=permission]");
  await page.setViewportSize({ width: WIDTH_PX.wide, height: 800 });
  await bed.client.answer(task.id, { kind: "permission", decision: "reject" });
  await look(found, "answered elsewhere", null, "[data-answered]");
  await look(found, "held follow-ups", `/attempts/${attempt_id}`, "[data-held]");
  await asksForApproval();
  await look(found, "approvals", null, "[data-approval]");
  expect(found).toEqual([]);
  expect(view.problems).toEqual([]);
}, 120_000);

test("keys move the focus from task to task and from message to message, and skip to the content", async () => {
  for (const title of ["One", "Two"]) {
    const { attempt_id } = await attempt(title, "!write one.txt 1");
    await bed.client.operate("get_attempt", { attempt_id, wait_ms: 20_000 });
  }
  await page.goto(`${bed.url}/`);
  const rows = page.locator("[role=row][data-task-id]");
  // The newest one is on top: it must not come between two keys.
  await rows.first().getByText("Two").waitFor();
  const focused = () =>
    page.evaluate<string>("document.activeElement.dataset.taskId ?? document.activeElement.textContent");
  await page.keyboard.press("Tab");
  expect(await focused()).toBe("Skip to the content");
  await page.keyboard.press("Enter");
  expect(await page.evaluate("document.activeElement.tagName")).toBe("MAIN");
  const id = async (index: number) => (await rows.nth(index).getAttribute("data-task-id")) ?? "";
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  expect(await focused()).toBe(await id(1));
  await page.keyboard.press("k");
  expect(await focused()).toBe(await id(0));
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/tasks\//);
  const messages = page.locator("[data-place]");
  await messages.nth(1).waitFor();
  await page.keyboard.press("Home");
  const place = () => page.evaluate<string>("document.activeElement.dataset.place");
  const first = await messages.nth(0).getAttribute("data-place");
  await page.locator(`[data-place="${first}"]:focus`).waitFor();
  await page.keyboard.press("j");
  await page.locator(`[data-place]:not([data-place="${first}"]):focus`).waitFor();
  expect(await place()).toBe((await messages.nth(1).getAttribute("data-place")) ?? "");
  expect(view.problems).toEqual([]);
});

test("a task's request is announced, and forced colours keep what colours conveyed", async () => {
  await page.goto(`${bed.url}/`);
  await page.locator("[data-connection=live]").first().waitFor({ state: "attached" });
  await attempt("Ask once more", "!ask Which one?");
  await page
    .locator("[data-announces]", { hasText: "Ask once more asks a question: Which one?" })
    .waitFor({ state: "attached" });
  await page.emulateMedia({ forcedColors: "active" });
  await page.keyboard.press("j");
  const styleOf = (selector: string, name: string) =>
    page.evaluate<string>(`getComputedStyle(document.querySelector("${selector}")).getPropertyValue("${name}")`);
  expect(await styleOf("[role=row][aria-selected=true]", "outline-style")).toBe("solid");
  expect(await styleOf("main button", "border-top-style")).toBe("solid");
  await page.emulateMedia({ forcedColors: "none" });
  expect(view.problems).toEqual([]);
});
