/**
 * How the page shows work in progress, in a real Chromium on a store with a past: timelines with tool calls, keys that
 * go through a batch, the command palette, and cost by day and model.
 */
import { expect, test } from "bun:test";
import { noProgress } from "../../../src/model/progress.ts";
import { chromiumBed } from "../page-bed.ts";
import { seededBed } from "./seeded-bed.ts";
import { LONG, STORY, type StoryTask, tell } from "./work-story.ts";

const DAY_MS = 86_400_000;

const chromium = chromiumBed();
const bed = seededBed(async (store) => {
  for (const story of [...STORY, LONG]) await tell(store, story);
  const child: StoryTask = {
    id: "ses_child",
    description: "Look up a rule",
    agoMs: 60_000,
    steps: [["call", 500, "webfetch"]],
    end: "completed",
    batchId: "below",
    parentSessionId: "ses_review",
    model: "openai/gpt-5.2",
    cost: 0.05,
  };
  await tell(store, child);
  await tell(store, { ...child, id: "ses_old", agoMs: 2 * DAY_MS, batchId: "old", parentSessionId: "", cost: 0.5 });
});

const open = (path: string, options = {}) => chromium.open(`${bed.url}${path}`, options);

test("timelines show calls, waiting and retrying apart, of a task and of a batch, and follow a live run", async () => {
  const { page, problems } = await open("/tasks/ses_review");
  const timeline = page.getByRole("region", { name: "Timeline" });
  await timeline.locator("[data-total=call]").getByText("6 tool calls").waitFor();
  expect(await timeline.locator("[data-total=waiting] dd").textContent()).toBe("1m 10s");
  expect(await timeline.locator("[data-run='0'] [data-span=waiting]").count()).toBe(1);
  expect(await timeline.locator("[data-run='0'] path[data-calls=whole]").count()).toBe(1);
  expect(await timeline.getByRole("row", { name: /bash .* 48s/ }).count()).toBe(1);

  await page.goto(`${bed.url}/tasks/ses_one`);
  await timeline.getByRole("row", { name: /U\+202E/ }).waitFor({ state: "attached" });
  expect(await page.locator("main img").count()).toBe(0);

  await page.goto(`${bed.url}/tasks/ses_long`);
  await timeline.locator("[data-total=call]").getByText("2,160 tool calls").waitFor();
  expect(await timeline.locator("[data-total=call] dd").textContent()).toBe("1m 48s");
  expect(Number(await timeline.locator("[data-run]").getAttribute("data-spans"))).toBeLessThanOrEqual(200);
  expect(await timeline.locator("path[data-calls=rare]").count()).toBe(1);

  await page.goto(`${bed.url}/batches/release`);
  const bar = (id: string) => timeline.locator(`[data-task-id="${id}"] [data-run]`);
  await bar("ses_tests").locator("[data-span=retrying]").waitFor({ state: "attached" });
  expect(await bar("ses_tests").locator("path[data-calls=failed]").count()).toBe(1);
  expect(Number(await bar("ses_many").getAttribute("data-spans"))).toBeLessThanOrEqual(60);
  await timeline.getByRole("list", { name: "Legend" }).getByText("waiting for a person").waitFor();
  const waits = bar("ses_live").locator("[data-span=waiting]");
  expect(await waits.count()).toBe(1);
  const [stored] = await bed.store.spans({ taskId: "ses_live" });
  const { progress = noProgress(0) } = (await bed.store.task("ses_live")) ?? {};
  const progressed = { type: "run.progressed", at: Date.now(), run: 0, progress } as const;
  const waited = {
    kind: "waiting",
    name: null,
    from: Date.now() - 5_000,
    to: null,
    count: 1,
    failed: 0,
    busyMs: 0,
  } as const;
  await bed.store.apply("ses_live", progressed, undefined, [...(stored?.spans ?? []), waited]);
  await waits.nth(1).waitFor({ state: "attached" });
  expect(problems).toEqual([]);
});

test("keys go to the parent, through the batch and to the next failure, and say when there is none", async () => {
  const { page, problems } = await open("/tasks/ses_review");
  const at = (id: string) => page.waitForURL(`${bed.url}/tasks/${id}`);
  await page.getByRole("heading", { name: "Review the checkout" }).waitFor();
  await page.keyboard.press("]");
  await at("ses_tests");
  await page.getByRole("heading", { name: "Write tests" }).waitFor();
  await page.keyboard.press("f");
  await page.getByRole("status").getByText("No other task of this batch has failed.").waitFor();
  await page.keyboard.press("[");
  await at("ses_review");
  await page.getByRole("heading", { name: "Review the checkout" }).waitFor();
  await page.keyboard.press("[");
  await at("ses_live");
  await page.getByRole("heading", { name: "Prepare the release notes" }).waitFor();
  await page.keyboard.press("p");
  await page.waitForURL(`${bed.url}/batches/release`);
  await page.getByRole("region", { name: "Timeline" }).waitFor();
  await page.keyboard.press("f");
  await at("ses_tests");
  await page.goto(`${bed.url}/tasks/ses_child`);
  await page.getByRole("heading", { name: "Look up a rule" }).waitFor();
  await page.keyboard.press("p");
  await at("ses_review");
  await page.keyboard.press("?");
  await page.getByRole("dialog").getByText("the next failure of the batch").waitFor();
  expect(problems).toEqual([]);
});

test("the command palette finds tasks, pages and what can be done here, by keys alone", async () => {
  const { page, problems } = await open("/tasks/ses_live");
  await page.getByRole("button", { name: "Cancel task" }).waitFor();
  await page.keyboard.press("Control+k");
  const box = page.getByRole("combobox", { name: "Search tasks, pages and actions" });
  await page.keyboard.type("cancel this");
  await page.getByRole("option", { name: "Cancel this task…", selected: true }).waitFor();
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Cancel this task?" }).waitFor();
  await page.keyboard.press("Escape");
  await page.keyboard.press("Control+k");
  await page.keyboard.type("currency");
  await page.getByRole("option", { name: /Rename the currency/ }).waitFor();
  await page.getByRole("status").getByText("1 task match").waitFor();
  await page.getByRole("option", { name: "Batch release" }).waitFor();
  await page.keyboard.press("Enter");
  await page.waitForURL(`${bed.url}/tasks/ses_many`);
  await page.getByRole("button", { name: "Search tasks, pages and actions" }).click();
  await page.keyboard.type("dark");
  await page.getByRole("option", { name: "Theme: dark", selected: true }).waitFor();
  await page.keyboard.press("Enter");
  await page.locator("html[data-theme=dark]").waitFor({ state: "attached" });
  await page.keyboard.press("Control+k");
  await page.keyboard.press("ArrowUp");
  await page.getByRole("option", { selected: true, name: "Theme: dark" }).waitFor();
  await page.keyboard.type("nothing like this");
  await page.getByText("Nothing matches.").waitFor();
  await page.keyboard.press("Escape");
  await box.waitFor({ state: "detached" });
  expect(problems).toEqual([]);
});

test("cost is shown by day and model, and what has no price is said to be unknown", async () => {
  const { page, problems } = await open("/stats");
  const cost = page.getByRole("region", { name: "Cost" });
  const model = (name: string) => cost.locator(`[data-model="${name}"]`);
  await model("openai/gpt-5.2").getByText("$0.86").waitFor();
  await model("local/qwen3").getByText("unknown").waitFor();
  await cost.getByText("at least $5.32").waitFor();
  await cost.getByText(/1 task used tokens, but neither/).waitFor();
  expect(await cost.getByRole("table", { name: "Cost by day and model" }).getByRole("row").count()).toBeGreaterThan(2);
  await cost.getByRole("button", { name: "7d: last 7 days" }).click();
  await cost.getByRole("button", { name: "7d: last 7 days", pressed: true }).waitFor();
  expect(problems).toEqual([]);
});
