/**
 * Where a trial runs: one OpenCode with a stamped model, as `opencode serve` or as the TUI. A bed accepts prompts for
 * fresh sessions; everything else is read where both modes look the same: at the model and in OpenCode's own
 * database.
 */
import type { PluginEntry } from "../../src/testing/opencode/home.ts";
import { scripts } from "./contenders.ts";
import { serveBed } from "./serve-bed.ts";
import { type Exchange, type StampedModel, startStampedModel } from "./stamped-model.ts";
import { StoredSessions } from "./stored-sessions.ts";
import { tuiBed } from "./tui-bed.ts";

export const MODES = ["tui", "serve"] as const;

export type Mode = (typeof MODES)[number];

/** One running OpenCode of a mode. */
export interface RunningOpenCode {
  home: string;
  /** Prompts a new session, and returns the model's first request in it. */
  begin(prompt: string): Promise<Exchange>;
  stop(): Promise<void>;
}

export interface BedSettings {
  model: StampedModel;
  plugin?: PluginEntry[];
  env?: Record<string, string>;
}

export interface Bed extends Pick<RunningOpenCode, "begin"> {
  model: StampedModel;
  stored: StoredSessions;
}

const start: Record<Mode, (settings: BedSettings) => Promise<RunningOpenCode>> = { tui: tuiBed, serve: serveBed };

export async function onBed<T>(
  mode: Mode,
  settings: Omit<BedSettings, "model">,
  work: (bed: Bed) => Promise<T>,
): Promise<T> {
  const model = startStampedModel(scripts());
  try {
    const opencode = await start[mode]({ model, ...settings });
    const stored = new StoredSessions(opencode.home);
    try {
      return await work({ model, stored, begin: (prompt) => opencode.begin(prompt) });
    } finally {
      stored.close();
      await opencode.stop();
    }
  } finally {
    await model.stop();
  }
}
