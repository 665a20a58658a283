/**
 * Tasks that start after others, in a real Chromium on the real daemon: the graph on the page of their batch, the page
 * of a task that waits, and a person's decision about one that cannot start.
 */
import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { boardBed } from "../board-bed.ts";
import { chromiumBed, type View } from "../page-bed.ts";

const chromium = chromiumBed();
const bed = boardBed({ "readme.txt": "hello\n" });

const launch = async (prompt: string, after: string[] = [], if_failed: "skip" | "run_anyway" | "wait" = "skip") => {
  const place = { directory: bed.repo, executor: "SCRIPTED" as const };
  const waiting = after.length > 0 ? { after, if_failed } : {};
  return (await bed.client.operate("launch_task", { prompt, ...place, ...waiting })).handle;
};

const graph = ({ page }: View) => page.getByRole("region", { name: "What starts after what" });
const node = (view: View, id: string) => graph(view).locator(`[data-node="${id}"]`);

test("a batch shows what starts after what, and follows it live; a person starts what cannot start", async () => {
  const first = await launch("Collect the prices\n!wait go\n!say 42 prices");
  const broken = await launch("Convert them\n!fail No exchange rate.", [first]);
  const skipped = await launch("Publish them\n!say published", [broken]);
  const blocked = await launch("Report\n!say reported", [broken, first], "wait");
  const { batchId } = await bed.client.task(first);
  const view = await chromium.open(`${bed.url}/batches/${batchId}`);
  const { page } = view;
  for (const id of [first, broken, skipped, blocked]) await node(view, id).waitFor();
  expect(await graph(view).locator("path[stroke-width]").count()).toBeGreaterThanOrEqual(4);
  await graph(view).getByRole("link", { name: "Report: starts after other tasks, starts after 2 tasks" }).waitFor();
  const left = async (id: string) => (await node(view, id).boundingBox())?.x ?? 0;
  expect((await left(first)) < (await left(broken)) && (await left(broken)) < (await left(skipped))).toBe(true);
  writeFileSync(join(bed.repo, "go"), "");
  await graph(view).getByRole("link", { name: "Publish them: cancelled, starts after 1 task" }).waitFor();
  await graph(view)
    .getByRole("link", { name: /^Report: cannot start: It starts after task/ })
    .click();
  await page.waitForURL(/\/tasks\//);
  const family = page.getByRole("region", { name: "Family" });
  await family.getByRole("link", { name: "Convert them" }).waitFor();
  await family.getByText("If one of them does not complete, a person decides").waitFor();
  await page.goto(`${bed.url}/`);
  const entry = page.getByRole("region", { name: "Needs you" }).locator("[data-needs=blocked]");
  await entry.waitFor();
  const start = entry.getByRole("button", { name: "Start it all the same" });
  if ((await start.count()) === 0) await entry.getByRole("button").first().click();
  await start.click();
  await entry.waitFor({ state: "detached" });
  expect((await bed.client.operate("wait_tasks", { handles: [blocked], wait_ms: 20_000 })).tasks).toMatchObject([
    { status: "completed", result: "reported" },
  ]);
  expect((await bed.client.task(skipped)).error).toContain(`Not run: it was to start after task ${broken}`);
  expect(view.problems).toEqual([]);
});

test("on a phone the graph scrolls by itself, and a batch in which nothing waits has none", async () => {
  const first = await launch("Count\n!say 1");
  const second = await launch("Check the count\n!say 2", [first]);
  await bed.client.operate("wait_tasks", { handles: [second], wait_ms: 20_000 });
  const view = await chromium.open(`${bed.url}/batches/${(await bed.client.task(first)).batchId}`, { width: 390 });
  await node(view, second).waitFor();
  expect(await view.page.evaluate("document.documentElement.scrollWidth")).toBe(390);
  const alone = await launch("Alone\n!say 3");
  await view.page.goto(`${bed.url}/batches/${(await bed.client.task(alone)).batchId}`);
  await view.page.getByRole("region", { name: "Timeline" }).waitFor();
  expect([await graph(view).count(), view.problems]).toEqual([0, []]);
});
