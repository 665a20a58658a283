/**
 * The dashboard in a real Chromium on the real OpenCode: what happens there shows on the page without a reload, and
 * actions on the page take effect there.
 */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { freePort } from "../../src/process/free-port.ts";
import { eventually } from "../../src/testing/eventually.ts";
import { call, fail, gate, say } from "../../src/testing/models/script.ts";
import { startApi } from "../http/bed/api-bed.ts";
import { type Api, type Parent, World } from "../scenarios/world.ts";
import { chromiumBed, type View } from "./page-bed.ts";

const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const HOSTILE = '<script>alert("x")</script><img src=x onerror=alert(1)> **bold**';

const chromium = chromiumBed();
let world: World;
let api: Api;
let parent: Parent;

beforeAll(async () => {
  world = await World.start({ env: { ASYNCAGENTS_API_PORT: String(await freePort()) } });
  api = await world.api();
  parent = await world.parent();
}, 60_000);
afterAll(() => world?.stop());

const open = (path = "/", options = {}) => chromium.open(`${api.url}${path}`, options);

async function hasStatus(view: View, taskId: string, status: string): Promise<void> {
  await view.page.locator(`[role=row][data-task-id="${taskId}"][data-status=${status}]`).waitFor();
}

test("an empty list says what to do", async () => {
  const empty = await startApi();
  const { page, problems } = await chromium.open(`${empty.url}/`);
  await page.getByText("No tasks yet").waitFor();
  await page.getByRole("button", { name: "Launch" }).first().waitFor();
  expect(problems).toEqual([]);
  // Must close before its server stops.
  await chromium.closePages();
});

test("a task launched in OpenCode appears, progresses and completes without a reload", async () => {
  const view = await open();
  await view.page.evaluate("window.stillTheSamePage = true");
  const id = await parent.launch(
    [gate("page-1"), call("read", { filePath: "notes.txt" }), gate("page-2"), say("it is done")],
    {
      description: "Read the notes",
    },
  );
  await hasStatus(view, id, "running");
  expect(await view.row(id).textContent()).toContain("Read the notes");
  world.model.gate("page-1").open();
  await view.row(id).getByText("1 tool call").waitFor();
  world.model.gate("page-2").open();
  await hasStatus(view, id, "completed");
  expect(await view.page.evaluate("window.stillTheSamePage")).toBe(true);
  expect(view.problems).toEqual([]);
});

test("filters and search are in the address, and the back button works", async () => {
  const [good = "", bad = ""] = await parent
    .askAll([
      { name: "task", input: { description: "alpha works", agent: "general", prompt: `${world.script(say("a"))} go` } },
      {
        name: "task",
        input: { description: "beta breaks", agent: "explore", prompt: `${world.script(fail(400, "no"))} go` },
      },
    ])
    .then((answers) => answers.map((answer) => /ses_\w+/.exec(answer)?.[0] ?? ""));
  await world.ended(good);
  await world.ended(bad);
  const view = await open();
  await view.row(good).waitFor();
  await view.page.getByRole("group", { name: "Status" }).getByRole("button", { name: /error/ }).click();
  await view.row(good).waitFor({ state: "detached" });
  await view.row(bad).waitFor();
  expect(new URL(view.page.url()).searchParams.get("status")).toBe("error");
  await view.page.goBack();
  await view.row(good).waitFor();
  await view.page.keyboard.press("/");
  await view.page.keyboard.type("ALPHA");
  await view.row(bad).waitFor({ state: "detached" });
  await view.row(good).waitFor();
  await view.page.waitForURL(/search=ALPHA/);
  const again = await open(`/?agent=explore&search=beta`);
  await again.row(bad).waitFor();
  expect(await again.row(good).count()).toBe(0);
  expect([...view.problems, ...again.problems]).toEqual([]);
});

test("a batch is a timeline: a bar for each run, in the colour of its outcome", async () => {
  const [first = "", second = "", third = ""] = await parent.launchAll(
    [[say("one"), gate("page-batch"), say("one again")], [fail(400, "no")], [gate("page-batch"), say("three")]],
    { batch: "timeline" },
  );
  await world.ended(first);
  await world.ended(second);
  await parent.ask("task", { resume: first, prompt: "again" });
  await world.model.gate("page-batch").reachedBy(2);
  const { page, problems } = await open(`/batches/${(await world.task(first)).batchId}`);
  const bars = (id: string) => page.locator(`[data-task-id="${id}"] [data-run]`);
  const states = (id: string) => bars(id).evaluateAll((list) => list.map((bar) => bar.getAttribute("data-status")));
  await bars(first).nth(1).waitFor();
  expect(await states(second)).toEqual(["error"]);
  expect((await states(first))[0]).toBe("completed");
  expect(await states(third)).toEqual(["running"]);
  world.model.gate("page-batch").open();
  await page.locator(`[data-task-id="${third}"] [data-run][data-status=completed]`).waitFor();
  await page.locator("[role=progressbar][aria-valuenow^='6']").waitFor();
  await world.ended(first);
  expect(problems).toEqual([]);
});

test("a task's page shows the conversation live, with tools folded and errors in full", async () => {
  await writeFile(join(world.opencode.directory, "pixel.png"), Buffer.from(PIXEL, "base64"));
  const id = await parent.launch([
    call("bash", { command: "echo from the tool", description: "Says something" }),
    call("read", { filePath: "pixel.png" }),
    gate("page-logs"),
    say("## A heading\n\nand *text*"),
  ]);
  await world.model.gate("page-logs").reachedBy(1);
  const { page, problems } = await open(`/tasks/${id}`);
  const conversation = page.getByRole("region", { name: "Conversation" });
  const tool = conversation.locator("details").filter({ hasText: "bash" }).first();
  await tool.locator("summary").click();
  await tool.getByText("from the tool", { exact: false }).last().waitFor();
  await conversation.getByRole("img", { name: "A picture" }).waitFor();
  world.model.gate("page-logs").open();
  await conversation.getByRole("heading", { name: "A heading" }).waitFor();
  await page.locator("[data-task-id][data-status=completed]").first().waitFor();
  const failed = await parent.launch([fail(400, "the provider says no, at length")]);
  await world.ended(failed);
  const other = await open(`/tasks/${failed}`);
  await other.page
    .getByRole("region", { name: "Error" })
    .getByText("the provider says no, at length")
    .first()
    .waitFor();
  expect([...problems, ...other.problems]).toEqual([]);
});

test("cancel, resume and launch work from the page", async () => {
  const held = await parent.launch([gate("page-held"), say("x")]);
  await world.model.gate("page-held").reachedBy(1);
  const view = await open(`/tasks/${held}`);
  await view.page
    .getByRole("button", { name: /^Cancel/ })
    .first()
    .click();
  await view.page
    .getByRole("dialog")
    .getByRole("button", { name: /Cancel (the )?task/ })
    .click();
  expect((await world.ended(held)).status).toBe("cancelled");
  const done = await parent.launch([say("first"), say("second answer")]);
  await world.ended(done);
  const other = await open(`/tasks/${done}`);
  await other.page.getByRole("form", { name: "Resume" }).getByRole("textbox").fill("go on");
  await other.page.getByRole("form", { name: "Resume" }).getByRole("button", { name: "Resume" }).click();
  expect((await world.until(done, ({ run }) => run.number === 1 && run.endedAt !== null)).run.result).toBe(
    "second answer",
  );
  await other.page.getByText("second answer").first().waitFor();
  await launchOnPage(other, "from the page");
  const launched = await eventually(world.store, async () => {
    const { tasks } = await world.store.tasks({ search: "from the page" });
    return tasks[0]?.status === "completed" ? tasks[0] : null;
  });
  expect(launched).toMatchObject({ parentSessionId: "", agent: "general", directory: world.opencode.directory });
  expect([...view.problems, ...other.problems]).toEqual([]);
});

async function launchOnPage({ page }: View, description: string): Promise<void> {
  await page.getByRole("button", { name: "Launch" }).first().click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel(/^Description/).fill(description);
  await dialog.getByLabel("Prompt").fill(`${world.script(say("hello"))} go`);
  await dialog.getByLabel("Agent").selectOption("general");
  await dialog.getByRole("button", { name: /^Launch/ }).click();
}

test("agents' output is text, never markup of the page", async () => {
  const id = await parent.launch(
    [say(`${HOSTILE} [click](javascript:alert(2)) ![picture](https://example.com/x.png)`)],
    {
      description: HOSTILE,
    },
  );
  await world.ended(id);
  const list = await open();
  expect(await list.row(id).textContent()).toContain(HOSTILE);
  const { page, problems } = await open(`/tasks/${id}`);
  await page.getByRole("region", { name: "Conversation" }).getByText('alert("x")').first().waitFor();
  expect(await page.locator("main img, main script, a[href^='javascript']").count()).toBe(0);
  expect([...list.problems, ...problems]).toEqual([]);
});

test("on a phone nothing is wider than the screen", async () => {
  const id = (await world.store.tasks({ limit: 1 })).tasks[0];
  for (const path of ["/", `/tasks/${id?.id}`, `/batches/${id?.batchId}`, "/stats"]) {
    const { page, problems } = await open(path, { width: 360 });
    await page.locator("main").waitFor();
    expect([path, await page.evaluate("document.documentElement.scrollWidth"), problems]).toEqual([path, 360, []]);
  }
});

test("when the server goes away the page says so, and continues when it is back", async () => {
  await world.settled();
  await world.opencode.waitIdle(parent.sessionId);
  const view = await open();
  const lost = view.page.locator("[data-connection=reconnecting]").first().waitFor({ state: "attached" });
  await world.opencode.restart();
  await lost;
  await world.begun();
  await view.page.locator("[data-connection=live]").first().waitFor({ state: "attached" });
  const id = await (await world.parent()).launch([say("after")], { description: "after the restart" });
  await hasStatus(view, id, "completed");
  expect(view.problems).toEqual([]);
}, 60_000);
