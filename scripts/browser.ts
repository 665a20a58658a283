/**
 * Installs a Chromium for the browser tests if the machine has none and its package manager offers one. Never fails:
 * the tests that need it report what is missing.
 */
import { findChromium } from "./chromium.ts";

export async function ensureBrowser(say: (line: string) => void): Promise<void> {
  if (findChromium() !== null) return;
  if (process.platform !== "linux" || process.getuid?.() !== 0 || Bun.which("apt-get") === null) return;
  say("installing Chromium for the browser tests (apt-get); this takes a minute");
  for (const args of [["update"], ["install", "-y", "chromium"]]) {
    const child = Bun.spawn(["apt-get", ...args], {
      env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
      stdio: ["ignore", "ignore", "pipe"],
    });
    const [errors, code] = await Promise.all([new Response(child.stderr).text(), child.exited]);
    if (code !== 0) return say(`apt-get ${args[0]} ended with ${code}: ${errors.trim().slice(-500)}`);
  }
}
