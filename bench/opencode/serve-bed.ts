/**
 * `opencode serve` as a bed: sessions are created and prompted over HTTP. The plugin's own client uses HTTP too here.
 */
import { startOpenCode } from "../../src/testing/opencode/harness.ts";
import type { BedSettings, RunningOpenCode } from "./bed.ts";

export async function serveBed(settings: BedSettings): Promise<RunningOpenCode> {
  const opencode = await startOpenCode({ ...settings, env: { OPENCODE_MODELS_PATH: "", ...settings.env } });
  return {
    home: opencode.home,
    async begin(prompt) {
      const { id } = await opencode.createSession();
      await opencode.promptAsync(id, prompt);
      return settings.model.exchangeWith(prompt);
    },
    stop: () => opencode.stop(),
  };
}
