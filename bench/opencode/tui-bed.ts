/**
 * OpenCode's TUI in a terminal as a bed: prompts are typed, and OpenCode listens on no port. Fresh sessions are
 * opened from the keyboard (leader, then n). Each key waits for the expected screen; nothing is timed by it.
 */
import { rmSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { attachLifeline } from "../../src/testing/lifeline.ts";
import { openCodeBinary } from "../../src/testing/opencode/binary.ts";
import { createProject, createTemporaryRoot, prepareHome } from "../../src/testing/opencode/home.ts";
import { cleanEnvironment } from "../../src/testing/opencode/process.ts";
import { bounded } from "../../src/testing/recorder.ts";
import type { BedSettings, RunningOpenCode } from "./bed.ts";
import { Screen } from "./screen.ts";
import type { Exchange } from "./stamped-model.ts";

const EMPTY_PROMPT = "Ask anything";
const LEADER = "\x18";
const NEW_SESSION = "n";
const ENTER = "\r";
const START_MS = 60_000;
const STOP_MS = 5_000;
/** A TUI that is still loading drops the key; on an empty prompt the key does nothing, so it can be pressed again. */
const ENTERS = 5;
const ENTER_MS = 4_000;

export async function tuiBed(settings: BedSettings): Promise<RunningOpenCode> {
  const root = await createTemporaryRoot();
  const home = join(root, "home");
  await prepareHome(home, settings);
  await mkdir(join(root, "project"));
  const cwd = await createProject(join(root, "project"));
  const screen = new Screen();
  const child = Bun.spawn([openCodeBinary()], {
    cwd,
    env: cleanEnvironment(home, { TERM: "xterm-256color", OPENCODE_MODELS_PATH: "", ...settings.env }),
    terminal: { cols: 120, rows: 40, data: (_, bytes) => screen.write(bytes) },
  });
  const release = attachLifeline(child.pid, root);
  const type = (keys: string) => child.terminal?.write(keys);
  let fresh = true;

  const bed: RunningOpenCode = {
    home,
    async begin(prompt) {
      if (!fresh) await newSession();
      fresh = false;
      const written = screen.shows(prompt.split(" ").at(-1) ?? prompt);
      type(pasted(prompt));
      await written;
      return enter(prompt);
    },
    async stop() {
      child.kill("SIGTERM");
      await bounded(child.exited, STOP_MS, () => "the TUI to end.").catch(() => child.kill("SIGKILL"));
      await child.exited;
      release();
      rmSync(root, { recursive: true, force: true });
    },
  };

  async function newSession(): Promise<void> {
    const empty = screen.shows(EMPTY_PROMPT);
    type(LEADER);
    type(NEW_SESSION);
    await empty;
  }

  async function enter(prompt: string): Promise<Exchange> {
    for (let left = ENTERS - 1; left > 0; left--) {
      type(ENTER);
      const exchange = await settings.model.exchangeWith(prompt, ENTER_MS).catch(() => null);
      if (exchange) return exchange;
    }
    type(ENTER);
    return settings.model.exchangeWith(prompt);
  }

  try {
    await screen.shows(EMPTY_PROMPT, START_MS);
    return bed;
  } catch (error) {
    await bed.stop();
    throw error;
  }
}

/** A bracketed paste: one event for the TUI, however long the text. */
function pasted(text: string): string {
  return `\x1b[200~${text}\x1b[201~`;
}
