/**
 * `npm run screenshots`: creates the pictures in docs/images from the real system: the real OpenCode with the plugin,
 * tasks that really run, and the page in Chromium. Nothing is drawn, and nothing is left behind.
 */
import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Browser, Page } from "playwright-core";
import { type Client, createClient } from "../src/client/client.ts";
import { calls, say } from "../src/testing/models/script.ts";
import { type OpenCode, startOpenCode } from "../src/testing/opencode/harness.ts";
import { ensureBrowser } from "./browser.ts";
import { build } from "./build.ts";
import { startChromium } from "./chromium.ts";
import { withBoard } from "./screenshots/board.ts";
import { agents, files, first, later, type Part } from "./screenshots/story.ts";
import { startUnmarkedModel, type UnmarkedModel } from "./screenshots/unmarked-model.ts";

const root = dirname(import.meta.dir);
const plugin = pathToFileURL(join(root, "src", "opencode", "server.ts")).href;
const images = join(root, "docs", "images");
const WIDE = { width: 1280, height: 800 };
const LIST = { width: 1280, height: 580 };

async function main(): Promise<void> {
  await build();
  await ensureBrowser(console.log);
  const model = startUnmarkedModel({
    usage: ({ body }) => ({ prompt_tokens: JSON.stringify(body).length >> 2, completion_tokens: 140 }),
  });
  const opencode = await startOpenCode({
    model,
    plugin: [plugin],
    files,
    config: { ...model.config, agent: agents },
    env: { ASYNCAGENTS_API_PORT: "0" },
  });
  let browser: Browser | null = null;
  try {
    const { client, url } = await findServer(opencode);
    const ids = await playStory(opencode, model, client);
    browser = await startChromium();
    await mkdir(images, { recursive: true });
    await takePictures(browser, url, ids);
    await takeBoardPictures(browser);
  } finally {
    await browser?.close();
    await opencode.stop();
    await model.stop();
  }
}

async function findServer(opencode: OpenCode): Promise<{ client: Client; url: string }> {
  const file = Bun.file(join(opencode.home, ".opencode", "plugins", "background-agent", "server.json"));
  for (let tries = 0; tries < 200 && !(await file.exists()); tries++) await Bun.sleep(50);
  const { url, token } = await file.json();
  return { client: createClient({ url, token }), url };
}

interface Ids {
  reviewed: string;
  batch: string;
}

async function playStory(opencode: OpenCode, model: UnmarkedModel, client: Client): Promise<Ids> {
  const parent = await opencode.createSession({ title: "Look after the shop" });
  await launchAll(opencode, model, parent.id, "Please look at the shop before the release.", first);
  const find = async (description: string) => (await client.tasks({ search: description })).tasks[0];
  const held = await find("Try the shop");
  await model.gate("cancelled").reachedBy(1);
  const tests = await find("Write tests");
  const reviewed = await find("Find mistakes");
  if (!held || !tests || !reviewed) throw new Error("The story's tasks are not listed.");
  await untilEnded(client, first.length - 1);
  await client.cancel(held.id);
  await client.resume(tests.id, "Add a test for a negative count.");
  await untilEnded(client, first.length);
  await launchAll(opencode, model, parent.id, "Now prepare the release.", later);
  await model.gate("working").reachedBy(later.length);
  return { reviewed: reviewed.id, batch: reviewed.batchId };
}

async function launchAll(opencode: OpenCode, model: UnmarkedModel, parentId: string, prompt: string, parts: Part[]) {
  for (const part of parts) model.script(part.prompt, part.steps);
  const inputs = parts.map(({ description, agent, prompt: text }) => {
    return { name: "asyncagents_task", input: { description, agent, prompt: text } };
  });
  model.script(prompt, [calls(inputs), say("The agents are working.")]);
  await opencode.prompt(parentId, prompt);
}

async function untilEnded(client: Client, count: number): Promise<void> {
  for await (const event of client.events()) {
    if (event.type === "reconnecting") throw new Error("The server is gone.");
    const { byStatus } = await client.stats();
    if (byStatus.completed + byStatus.error + byStatus.cancelled >= count) return;
  }
}

interface Picture {
  name: string;
  path: string;
  theme: "light" | "dark";
  viewport: { width: number; height: number };
}

async function takePictures(browser: Browser, url: string, ids: Ids): Promise<void> {
  await takeAll(browser, url, [
    { name: "list-light", path: "/", theme: "light", viewport: LIST },
    { name: "list-dark", path: "/", theme: "dark", viewport: LIST },
    { name: "timeline-light", path: `/batches/${ids.batch}`, theme: "light", viewport: { width: 1280, height: 620 } },
    { name: "task-light", path: `/tasks/${ids.reviewed}`, theme: "light", viewport: { width: 1280, height: 1000 } },
    { name: "stats-dark", path: "/stats", theme: "dark", viewport: WIDE },
    { name: "list-phone", path: "/", theme: "light", viewport: { width: 390, height: 640 } },
  ]);
}

async function takeBoardPictures(browser: Browser): Promise<void> {
  await withBoard(({ url, reviewed }) =>
    takeAll(browser, url, [
      { name: "board-light", path: "/board", theme: "light", viewport: { width: 1280, height: 520 } },
      { name: "attempt-light", path: `/attempts/${reviewed}`, theme: "light", viewport: { width: 1280, height: 1030 } },
    ]),
  );
}

async function takeAll(browser: Browser, url: string, pictures: readonly Picture[]): Promise<void> {
  for (const { name, path, theme, viewport } of pictures) {
    const context = await browser.newContext({ viewport, colorScheme: theme });
    await picture(await context.newPage(), `${url}${path}`, name);
    await context.close();
  }
}

async function picture(page: Page, address: string, name: string): Promise<void> {
  await page.goto(address);
  await page.locator("[data-connection=live]").first().waitFor({ state: "attached" });
  await page.waitForLoadState("networkidle", { timeout: 1500 }).catch(() => undefined);
  const path = join(images, `${name}.png`);
  await page.screenshot({ path });
  console.log(path.slice(root.length + 1));
}

await main();
