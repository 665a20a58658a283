/**
 * A page of the dashboard in a real Chromium, with a record of what went wrong on it: console errors, policy
 * violations, dialogs.
 */
import type { Browser, BrowserContext, Locator, Page } from "playwright-core";
import { startChromium } from "../../src/testing/chromium.ts";

const PATIENCE_MS = 40_000;

export interface View {
  page: Page;
  /** What a person would call broken; 4xx answers that the test provoked do not count. */
  problems: string[];
  row(taskId: string): Locator;
}

export class Chromium {
  readonly #browser: Browser;
  readonly #contexts: BrowserContext[] = [];

  private constructor(browser: Browser) {
    this.#browser = browser;
  }

  static async start(): Promise<Chromium> {
    return new Chromium(await startChromium());
  }

  /** The page as it loads, even if the server shows it nothing. */
  async page(address: string): Promise<Page> {
    const context = await this.#browser.newContext({ reducedMotion: "reduce" });
    this.#contexts.push(context);
    context.setDefaultTimeout(PATIENCE_MS);
    const page = await context.newPage();
    await page.goto(address);
    return page;
  }

  async open(address: string, options: { width?: number } = {}): Promise<View> {
    const viewport = { width: options.width ?? 1280, height: 800 };
    // Without a graphics card every frame of a spinner is painted by the processor.
    const context = await this.#browser.newContext({ viewport, reducedMotion: "reduce" });
    this.#contexts.push(context);
    context.setDefaultTimeout(PATIENCE_MS);
    const page = await context.newPage();
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
    await this.#browser.close();
  }
}
