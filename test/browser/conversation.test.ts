/**
 * A task's conversation in a real Chromium: a long one is drawn in part with every place one jump away; the reader's
 * position is kept, whatever appears on the page.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { ask, call, gate, say } from "../../src/hosts/scripted/script.ts";
import type { Message } from "../../src/model/message.ts";
import { ended, launch, World } from "../engine/engine-bed.ts";
import { type Api, startApi } from "../http/bed/api-bed.ts";
import { chromiumBed } from "./page-bed.ts";

const MANY = 2000;
const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

const chromium = chromiumBed();
let world: World;
let api: Api;
/** By session: messages that its host returns instead of its own. */
const shown = new Map<string, Message[]>();

beforeAll(async () => {
  world = new World();
  api = await startApi({ world, side: { host: (host) => ({ messages: pagesOf(host.messages.bind(host)) }) } });
});
afterAll(() => world?.close());

type Messages = Api["side"]["host"]["messages"];

function pagesOf(own: Messages): Messages {
  return async (sessionId, page) => {
    const messages = shown.get(sessionId);
    if (!messages) return own(sessionId, page);
    const end = page.before === null ? messages.length : Number(page.before);
    const start = Math.max(0, end - page.limit);
    return { messages: messages.slice(start, end), before: start > 0 ? String(start) : null };
  };
}

function numbered(index: number): Message {
  const nothing = { agent: null, model: null, tokens: null, cost: null };
  const text = `Message ${index}.\n\n${"It goes on for a while. ".repeat(index % 7)}`;
  const error = index === 500 || index === 1500 ? `Error ${index}` : null;
  const role = index === 0 ? "user" : "assistant";
  return {
    id: `msg_${String(index).padStart(6, "0")}`,
    role,
    at: index * 1000,
    endedAt: index * 1000 + 1,
    error,
    ...nothing,
    parts: [{ type: "text", text, hidden: false }],
  };
}

const manyMessages = () => Array.from({ length: MANY }, (_, index) => numbered(index));
const place = (page: Page, index: number) => page.locator(`[data-place="${numbered(index).id}"]`);
const nodes = (page: Page) => page.evaluate<number>("document.querySelectorAll('*').length");
/** Below the bars at the top of the page. */
const SEEN_FROM = 52;

async function isInView(page: Page, index: number): Promise<void> {
  await place(page, index).waitFor();
  const box = `document.querySelector('[data-place="${numbered(index).id}"]')?.getBoundingClientRect()`;
  await page.waitForFunction(
    `(() => { const box = ${box}; return box && box.bottom > ${SEEN_FROM} && box.top < 800; })()`,
  );
}

/** What a frame corrects before it is painted is invisible. */
const painted = (page: Page) =>
  page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");

async function scrollBy(page: Page, pixels: number): Promise<void> {
  await page.locator("main").evaluate((main, by) => {
    main.scrollTop += by;
  }, pixels);
  await painted(page);
}

async function topOf(page: Page, index: number): Promise<number> {
  await painted(page);
  return (await place(page, index).boundingBox())?.y ?? Number.NaN;
}

test("2,000 messages: opened at the newest and followed, with the first, each error and the newest one jump away", async () => {
  const steps = [gate("long-1"), call("bash", { output: "x" }), gate("long-2"), say("done")];
  const task = await launch(api.side, world.parent(), world.script(...steps));
  const messages = manyMessages();
  shown.set(task.sessionId, messages);
  const { page, problems } = await chromium.open(`${api.url}/tasks/${task.id}`);
  const counts: number[] = [];
  const requests: string[] = [];
  page.on("request", (request) => requests.push(request.url()));
  await isInView(page, MANY - 1);
  counts.push(await nodes(page));
  messages.push(numbered(MANY), numbered(MANY + 1));
  await api.side.host.gate("long-1").reachedBy(1);
  api.side.host.gate("long-1").open();
  await isInView(page, MANY + 1);
  await page.keyboard.press("Home");
  await isInView(page, 0);
  counts.push(await nodes(page));
  expect(await page.getByRole("button", { name: "Load earlier messages" }).count()).toBe(0);
  await page.keyboard.press("e");
  await isInView(page, 500);
  await page.getByRole("button", { name: "Next error" }).click();
  await isInView(page, 1500);
  await page.getByText("Error 1500", { exact: true }).waitFor();
  await page.keyboard.press("e");
  await isInView(page, 500);
  counts.push(await nodes(page));
  await page.getByRole("button", { name: "Newest" }).click();
  await isInView(page, MANY + 1);
  counts.push(await nodes(page));
  expect(Math.max(...counts)).toBeLessThan(2000);
  expect(requests.filter((url) => url.includes("before=")).length).toBeLessThan(15);
  api.side.host.gate("long-2").open();
  expect(problems).toEqual([]);
});

test("earlier messages load while scrolling up, and the position is kept", async () => {
  const task = await launch(api.side, world.parent(), world.script(gate("up"), say("done")));
  shown.set(task.sessionId, manyMessages());
  const { page, problems } = await chromium.open(`${api.url}/tasks/${task.id}`);
  await isInView(page, MANY - 1);
  const answer = Promise.withResolvers<void>();
  let isAsked = false;
  const asked = page.waitForRequest(/before=/).then(() => {
    isAsked = true;
  });
  await page.route(/before=/, async (route) => {
    await answer.promise;
    await route.continue();
  });
  for (let turns = 0; turns < 200 && !isAsked; turns++) await scrollBy(page, -400);
  await asked;
  const read = Number((await firstRead(page)).slice(4));
  const before = await topOf(page, read);
  answer.resolve();
  await page.locator(`[data-place][aria-setsize="200"]`).first().waitFor();
  expect(Math.abs((await topOf(page, read)) - before)).toBeLessThan(2);
  api.side.host.gate("up").open();
  expect(problems).toEqual([]);
});

test("a request is in view and nothing moves: in the middle, at the end, and when the task ends", async () => {
  const steps = [gate("box-1"), ask("permission", "May I go on?"), gate("box-2"), say("The end of it")];
  const task = await launch(api.side, world.parent(), world.script(...steps));
  shown.set(task.sessionId, manyMessages());
  const [tail, middle] = [
    await chromium.open(`${api.url}/tasks/${task.id}`),
    await chromium.open(`${api.url}/tasks/${task.id}`),
  ];
  await isInView(tail.page, MANY - 1);
  await isInView(middle.page, MANY - 1);
  await scrollBy(middle.page, -2000);
  const read = Number((await firstRead(middle.page)).slice(4));
  const before = await topOf(middle.page, read);
  await middle.page.locator("main").evaluate((main) => main.before(Object.assign(main.cloneNode(), { id: "banner" })));
  expect(Math.abs((await topOf(middle.page, read)) - before)).toBeLessThan(2);
  await middle.page.locator("#banner").evaluate((banner) => banner.remove());
  expect(Math.abs((await topOf(middle.page, read)) - before)).toBeLessThan(2);
  await api.side.host.gate("box-1").reachedBy(1);
  api.side.host.gate("box-1").open();
  for (const { page } of [tail, middle]) {
    const box = page.locator("[data-asks=permission]");
    await box.waitFor();
    const { y = 0, height = 0 } = (await box.boundingBox()) ?? {};
    expect(y).toBeGreaterThan(300);
    expect(y + height).toBeLessThanOrEqual(800);
  }
  expect(Math.abs((await topOf(middle.page, read)) - before)).toBeLessThan(2);
  await isInView(tail.page, MANY - 1);
  const boxTop = (await tail.page.locator("[data-asks=permission]").boundingBox())?.y ?? 0;
  const last = await place(tail.page, MANY - 1).boundingBox();
  expect((last?.y ?? 0) + (last?.height ?? 0)).toBeLessThanOrEqual(boxTop + 1);
  await tail.page.getByRole("button", { name: "Allow once" }).click();
  await middle.page.locator("[data-asks]").waitFor({ state: "detached" });
  expect(Math.abs((await topOf(middle.page, read)) - before)).toBeLessThan(2);
  await api.side.host.gate("box-2").reachedBy(1);
  api.side.host.gate("box-2").open();
  for (const { page } of [tail, middle]) await page.getByRole("region", { name: "Result" }).waitFor();
  expect(Math.abs((await topOf(middle.page, read)) - before)).toBeLessThan(2);
  await isInView(tail.page, MANY - 1);
  expect([...tail.problems, ...middle.problems]).toEqual([]);
});

test("people's text is shown as typed, agents' text as Markdown", async () => {
  const typed = "Fix __init__.py and *.ts\n  keep  this   line\n# no heading";
  const task = await launch(api.side, world.parent(), `${typed}\n${world.script(say("See **this**"))}`);
  await ended(api.side, task);
  const { page, problems } = await chromium.open(`${api.url}/tasks/${task.id}`);
  const conversation = page.getByRole("region", { name: "Conversation" });
  await conversation.locator("[data-role=assistant] strong", { hasText: "this" }).waitFor();
  const prompt = conversation.locator("[data-role=user]");
  // biome-ignore lint/performance/useDomNodeTextContent: what is seen matters, with its line breaks
  expect(await prompt.innerText()).toContain(typed);
  expect(await prompt.locator("strong, em, h1").count()).toBe(0);
  expect(problems).toEqual([]);
});

test("tools show commands, edits and colours, images are shown, and code is highlighted and can be copied", async () => {
  const task = await launch(api.side, world.parent(), world.script(say("x")));
  const tool = (name: string, input: unknown, output: string): Message["parts"][number] => ({
    type: "tool",
    callId: name,
    name,
    state: "completed",
    title: null,
    input,
    output,
    error: null,
    startedAt: null,
    endedAt: null,
  });
  const file = (name: string, mime: string, body: string) =>
    ({ type: "file", name, mime, url: `data:${mime};base64,${body}` }) as const;
  const parts: Message["parts"] = [
    tool(
      "bash",
      { command: "npm test -- --watch=false", timeout: 5 },
      "\u001B[32m3 passed\u001B[0m\u001B[2K, \u001B[1m0 failed\u001B[0m",
    ),
    tool("edit", { filePath: "src/cart.ts", oldString: "const a = 1;", newString: "const a = 2;" }, "ok"),
    tool("write", { filePath: "src/new.ts", content: "export const b = 1;" }, "ok"),
    file("shot.png", "image/png", PIXEL),
    file("drawing.svg", "image/svg+xml", "PHN2Zy8+"),
    { type: "text", text: "```ts\nexport const c = 3;\n```", hidden: false },
  ];
  shown.set(task.sessionId, [{ ...numbered(1), parts }]);
  const { page, problems } = await chromium.open(`${api.url}/tasks/${task.id}`);
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  const fold = (name: string) => page.locator("[data-tool-state]").filter({ hasText: name });
  await fold("bash").getByText("npm test -- --watch=false").first().waitFor();
  for (const name of ["bash", "edit", "write"]) await fold(name).locator("summary").click();
  const output = fold("bash").getByLabel("Output of bash");
  expect(await output.textContent()).toBe("3 passed, 0 failed");
  expect(await output.locator(".ansi-green").textContent()).toBe("3 passed");
  expect(await fold("bash").getByLabel("Input of bash").textContent()).toBe("npm test -- --watch=false");
  expect(await fold("edit").locator("[data-kind=removed] .diff-code").textContent()).toBe("const a = 1;");
  expect(await fold("edit").locator("[data-kind=added] .diff-code").textContent()).toBe("const a = 2;");
  await fold("edit").locator("[data-kind=added] .hljs-keyword").waitFor();
  await fold("write").locator(".hljs-keyword", { hasText: "export" }).waitFor();
  const pictures = page.locator("main img");
  expect(await pictures.evaluateAll((list) => list.map((each) => each.getAttribute("alt")))).toEqual(["shot.png"]);
  expect(await pictures.evaluate((each) => (each as unknown as { naturalWidth: number }).naturalWidth)).toBe(1);
  await page.getByText("drawing.svg").waitFor();
  const code = page.locator(".markdown .code");
  await code.locator(".hljs-keyword", { hasText: "export" }).waitFor();
  await code.hover();
  await page.locator(".markdown").getByRole("button", { name: "Copy" }).click();
  await page.getByText("Copied").waitFor();
  expect(await page.evaluate("navigator.clipboard.readText()")).toBe("export const c = 3;");
  expect(problems).toEqual([]);
});

/** The first message whose top is in view. */
function firstRead(page: Page): Promise<string> {
  return page.evaluate<string>(
    `[...document.querySelectorAll("[data-place]")].find((each) => each.getBoundingClientRect().top > 110).dataset.place`,
  );
}
