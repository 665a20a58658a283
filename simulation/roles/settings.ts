/** The settings of all simulated engines: the default ones, with a limit that ends agents which hang. */
import { DEFAULT_SETTINGS, type Settings } from "../../src/engine/context.ts";

export const SETTINGS: Settings = {
  ...DEFAULT_SETTINGS,
  limits: { ...DEFAULT_SETTINGS.limits, runMs: 30 * 60_000 },
  launchPauseMs: 50,
};
