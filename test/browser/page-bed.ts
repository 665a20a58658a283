/**
 * A page of the dashboard in a real Chromium, with a record of what went wrong on it: console errors, policy
 * violations, dialogs.
 */
import { afterAll, afterEach, beforeAll } from "bun:test";
import type { Browser, BrowserContext, Locator, Page } from "playwright-core";
import { startChromium } from "../../scripts/chromium.ts";

const PATIENCE_MS = 40_000;
const START_MS = 60_000;

export interface View {
  page: Page;
  /** What a person would call broken; 4xx answers that the test provoked do not count. */
  problems: string[];
  row(taskId: string): Locator;
}

/**
 * A Chromium for a test file, to be called at its top: closes its pages after each test, unless they are kept, and
 * ends with the file. Register servers below it, so that they stop after their pages are closed.
 */
export function chromiumBed({ keepsPages = false } = {}): Chromium {
  const chromium = new Chromium();
  beforeAll(() => chromium.start(), START_MS);
  if (!keepsPages) afterEach(() => chromium.closePages());
  afterAll(() => chromium.close());
  return chromium;
}

class Chromium {
  #browser: Browser | undefined;
  readonly #contexts: BrowserContext[] = [];

  async start(): Promise<void> {
    this.#browser = await startChromium();
  }

  /** The page as it loads, even if the server shows it nothing. */
  async page(address: string): Promise<Page> {
    const page = await this.#newPage({});
    await page.goto(address);
    return page;
  }

  async open(address: string, options: { width?: number } = {}): Promise<View> {
    const viewport = { width: options.width ?? 1280, height: 800 };
    const page = await this.#newPage({ viewport });
    const problems: string[] = [];
    page.on("pageerror", (error) => problems.push(`page error: ${error.message}`));
    page.on("dialog", (dialog) => {
      problems.push(`dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    page.on("console", (message) => {
      const isAnswer = /Failed to load resource|net::ERR_/.test(message.text());
      if (message.type() === "error" && !isAnswer) problems.push(`console: ${message.text()}`);
    });
    page.on("request", (request) => {
      if (new URL(request.url()).origin !== new URL(address).origin)
        problems.push(`left this server: ${request.url()}`);
    });
    await page.goto(address);
    await page.locator("[data-connection=live]").first().waitFor({ state: "attached" });
    return { page, problems, row: (taskId) => page.locator(`[role=row][data-task-id="${taskId}"]`) };
  }

  /** Pages that stay open keep following everything. */
  async closePages(): Promise<void> {
    for (const context of this.#contexts.splice(0)) await context.close();
  }

  async close(): Promise<void> {
    await this.closePages();
    await this.#browser?.close();
  }

  async #newPage(options: { viewport?: { width: number; height: number } }): Promise<Page> {
    if (!this.#browser) throw new Error("Chromium has not started.");
    // Without a graphics card every frame of a spinner is painted by the processor.
    const context = await this.#browser.newContext({ ...options, reducedMotion: "reduce" });
    this.#contexts.push(context);
    context.setDefaultTimeout(PATIENCE_MS);
    return context.newPage();
  }
}
