/**
 * Finds Chromium on this machine and starts it headless for tests and screenshots, with its own profile and no network
 * access of its own. Installs nothing: if there is none, the error says how to get one (`scripts/browser.ts` tries to).
 */
import { accessSync, constants, existsSync, readdirSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";
import type { Browser } from "playwright-core";

const NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"];
const ELSEWHERE = [
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
];

/** From `CHROMIUM_PATH`, the PATH, or Playwright's own install; null if there is none. */
export function findChromium(environment: Record<string, string | undefined> = process.env): string | null {
  const given = environment.CHROMIUM_PATH;
  if (given) return given;
  const folders = (environment.PATH ?? "").split(delimiter).filter((folder) => folder !== "");
  const onPath = NAMES.flatMap((name) => folders.map((folder) => join(folder, name)));
  return [...onPath, ...ELSEWHERE, ...ofPlaywright()].find(isExecutable) ?? null;
}

/** The caller must close it. */
export async function startChromium(): Promise<Browser> {
  const executablePath = findChromium();
  if (executablePath === null) {
    throw new Error(
      "There is no Chromium for the browser tests. Install one (Debian, as root: apt-get update && apt-get install -y chromium; elsewhere: npx playwright install chromium), or set CHROMIUM_PATH.",
    );
  }
  const { chromium } = await import("playwright-core");
  return chromium.launch({
    executablePath,
    headless: true,
    args: [
      // Root has no sandbox, and the pages are our own.
      ...(process.getuid?.() === 0 ? ["--no-sandbox"] : []),
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      "--no-first-run",
    ],
  });
}

function ofPlaywright(): string[] {
  const root = join(homedir(), ".cache", "ms-playwright");
  if (!existsSync(root)) return [];
  return readdirSync(root)
    .filter((name) => name.startsWith("chromium-"))
    .map((name) => join(root, name, "chrome-linux", "chrome"));
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
