/**
 * The state of attempts, in a real Chromium on the real daemon: on the cards of the board, with the server's
 * warnings, and with queued follow-ups.
 */
import { beforeAll, expect, test } from "bun:test";
import { chmod, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { boardBed } from "./board-bed.ts";
import { chromiumBed, type View } from "./page-bed.ts";

const chromium = chromiumBed();
const bed = boardBed({ "price.txt": "3\n" });
let project_id: string;
let repo_id: string;

beforeAll(async () => {
  ({ project_id } = await bed.client.operate("add_project", { name: "Greengrocer" }));
  ({ repo_id } = await bed.client.operate("add_repo", { project_id, path: bed.repo }));
});

const open = (path: string, options = {}) => chromium.open(`${bed.url}${path}`, options);
const stands = ({ page }: View, state: string) => page.locator(`[data-attempt-id][data-state=${state}]`).waitFor();

const newItem = async (title: string, description: string) =>
  (await bed.client.operate("create_task", { project_id, title, description })).task_id;

async function newAttempt(task_id: string): Promise<string> {
  const input = { task_id, executor: "SCRIPTED", repos: [{ repo_id, target_branch: "main" }] };
  return (await bed.client.operate("start_task_attempt", input)).attempt_id;
}

const settled = (attempt_id: string) => bed.client.operate("get_attempt", { attempt_id, wait_ms: 20_000 });

test("a card shows the state and branch of the newest attempt, and one that a person stopped as stopped", async () => {
  const itemId = await newItem("Two tries", "!wait go.txt\n!fail It went wrong.");
  const first = await newAttempt(itemId);
  const second = await newAttempt(itemId);
  const view = await open(`/board/${project_id}`);
  const card = view.page.locator(`[data-item-id="${itemId}"]`);
  await card.locator("[data-attempt=live]").waitFor();
  await bed.client.operate("stop_attempt", { attempt_id: second });
  await card.locator("[data-attempt=stopped]").getByText("another is at work").waitFor();
  const { repos } = await settled(second);
  const branch = (await bed.git("-C", repos[0]?.path ?? "", "branch", "--show-current")).split("/").at(-1) ?? "?";
  await card.getByText(branch).waitFor();
  const worktree = (await bed.client.operate("get_attempt", { attempt_id: first })).repos[0]?.path ?? "";
  await writeFile(join(worktree, "go.txt"), "");
  expect((await settled(first)).state).toBe("failed");
  await card.getByText("another is").waitFor({ state: "detached" });
  expect(await card.locator("[data-attempt]").textContent()).toBe("stopped");
  await card.getByText(branch).waitFor();
  expect(view.problems).toEqual([]);
});

test("the server's warnings at a start and at a merge are shown until they are dismissed", async () => {
  const itemId = await newItem("With a warning", "!write more.txt more");
  await writeFile(join(bed.repo, "unsaved.txt"), "not committed\n");
  const hook = join(bed.repo, ".git/hooks/pre-commit");
  await writeFile(hook, "#!/bin/sh\nexit 1\n");
  await chmod(hook, 0o755);
  const view = await open(`/items/${itemId}`);
  const { page, problems } = view;
  await page.getByLabel("Runs on").selectOption("SCRIPTED");
  await page.getByRole("button", { name: "Start", exact: true }).click();
  const warnings = page.getByRole("status", { name: "Warnings" });
  await warnings.getByText("has uncommitted changes (unsaved.txt)").waitFor();
  await stands(view, "completed");
  await warnings.getByRole("button", { name: "Dismiss" }).click();
  await warnings.waitFor({ state: "detached" });
  await rm(join(bed.repo, "unsaved.txt"));
  await page.getByRole("button", { name: "Merge" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Merge" }).click();
  await stands(view, "merged");
  await warnings.getByText("pre-commit").waitFor();
  await rm(hook);
  expect(problems).toEqual([]);
}, 60_000);

test("queued follow-ups are shown with their text and why they wait, and can be cancelled", async () => {
  const attempt_id = await newAttempt(await newItem("With a queue", "!wait go.txt\n!fail It went wrong."));
  const queue = (prompt: string) => bed.client.operate("follow_up", { attempt_id, action: "queue", prompt });
  await queue("Fix __init__.py\n  and keep this line");
  await queue("Then the \u202Erest");
  const view = await open(`/attempts/${attempt_id}`);
  const { page, problems } = view;
  const shown = page.getByRole("region", { name: "Queued follow-ups" });
  await shown.getByText("2 follow-ups queued").waitFor();
  await shown.getByText("Fix __init__.py\n  and keep this line").waitFor();
  expect(await shown.textContent()).not.toContain("\u202E");
  expect(await shown.locator("[data-held]").count()).toBe(0);
  const worktree = (await bed.client.operate("get_attempt", { attempt_id })).repos[0]?.path ?? "";
  await writeFile(join(worktree, "go.txt"), "");
  await stands(view, "failed");
  const { queue_held } = await settled(attempt_id);
  await shown.locator("[data-held]").waitFor();
  expect(await shown.locator("[data-held]").textContent()).toBe(queue_held);
  await shown.getByRole("button", { name: "Cancel the queue" }).click();
  await shown.waitFor({ state: "detached" });
  expect((await settled(attempt_id)).queued_count).toBe(0);
  expect(problems).toEqual([]);
});
