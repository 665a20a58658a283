/**
 * The real OpenCode with the panel in a real terminal (tmux), with a scripted model, its own HOME and project. Waits
 * look at the screen, and their errors show it.
 */
import { spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { attachLifeline } from "../../src/testing/lifeline.ts";
import { type OpenAiModel, startOpenAiModel } from "../../src/testing/models/openai-model.ts";
import { openCodeBinary } from "../../src/testing/opencode/binary.ts";
import {
  createProject,
  createTemporaryRoot,
  type PermissionSetting,
  prepareHome,
} from "../../src/testing/opencode/home.ts";
import { cleanEnvironment } from "../../src/testing/opencode/process.ts";
import { root as repository } from "../ground/repository.ts";

export const PANEL = join(repository, "dist", "tui", "panel.js");
export const PLUGIN = join(repository, "src", "opencode", "server.ts");
const LOOKS = 900;
const LOOK_MS = 100;
const PRESSES = 5;
const LOOKS_PER_PRESS = 50;
/** OpenCode now and then leaves single characters of an earlier picture, until its terminal changes size. */
const LOOKS_PER_REPAINT = 40;
const REPAINT_MS = 300;

export interface TuiOptions {
  columns?: number;
  rows?: number;
  theme?: string;
  /** Options of the panel; null: without it. */
  panel?: Record<string, unknown> | null;
  /** More plugins of the screen. */
  plugins?: readonly string[];
  permission?: PermissionSetting;
  /** The arguments of opencode. */
  args?: readonly string[];
  env?: Record<string, string>;
  home?: string;
  directory?: string;
  model?: OpenAiModel;
}

export interface Tui {
  home: string;
  /** The data folder of asyncagents. */
  data: string;
  directory: string;
  model: OpenAiModel;
  /** The pid of OpenCode. */
  pid(): number;
  /** The screen as text. */
  screen(): string;
  /** The screen with its colours, as escape sequences. */
  colours(): string;
  /** Resolves with the screen when it shows this. */
  shows(pattern: RegExp): Promise<string>;
  /** Resolves when the screen no longer shows this. */
  hides(pattern: RegExp): Promise<string>;
  /** Keys by tmux's names: `Enter`, `C-x`, `Down`. */
  press(...keys: string[]): void;
  /** Presses a key, once more if a busy OpenCode dropped it, until the screen shows this. */
  enter(key: string, pattern: RegExp): Promise<string>;
  type(text: string): void;
  resize(columns: number, rows?: number): void;
  stop(): Promise<void>;
}

export async function startTui(options: TuiOptions = {}): Promise<Tui> {
  const { columns = 140, rows = 40, theme, panel = {}, args = [] } = options;
  const root = await createTemporaryRoot();
  const home = options.home ?? join(root, "home");
  const model = options.model ?? startOpenAiModel();
  const settings = { model, plugin: [PLUGIN], ...(options.permission && { permission: options.permission }) };
  await prepareHome(home, settings);
  const plugins = [...(panel === null ? [] : [[PANEL, panel]]), ...(options.plugins ?? [])];
  const tuiConfig = { $schema: "https://opencode.ai/tui.json", plugin: plugins, ...(theme && { theme }) };
  await writeFile(join(home, ".config", "opencode", "tui.json"), JSON.stringify(tuiConfig));
  await mkdir(join(root, "project"));
  const directory = options.directory ?? (await createProject(join(root, "project")));
  const socket = join(root, "tmux");
  const env = cleanEnvironment(home, { TERM: "xterm-256color", ASYNCAGENTS_API_PORT: "0", ...options.env });
  const tmux = (...words: string[]) =>
    spawnSync("tmux", ["-S", socket, ...words], { env, encoding: "utf8", cwd: directory }).stdout ?? "";
  const size = ["-x", String(columns), "-y", String(rows)];
  tmux("-f", "/dev/null", "new-session", "-d", ...size, openCodeBinary(), ...args);
  tmux("set-option", "-g", "remain-on-exit", "on");
  const release = attachLifeline(Number(tmux("display-message", "-p", "#{pid}")), root);
  const screen = () => tmux("capture-pane", "-p");
  let shownSize = { width: columns, height: rows };
  const setSize = ({ width, height }: typeof shownSize) =>
    void tmux("resize-window", "-x", String(width), "-y", String(height));
  const repaint = async () => {
    setSize({ ...shownSize, height: shownSize.height - 1 });
    await Bun.sleep(REPAINT_MS);
    setSize(shownSize);
  };
  const look = async (isDone: (shown: string) => boolean, times: number) => {
    for (let looks = 0; looks < times; looks++) {
      const shown = screen();
      if (isDone(shown)) return shown;
      if ((looks + 1) % LOOKS_PER_REPAINT === 0) await repaint();
      await Bun.sleep(LOOK_MS);
    }
    return null;
  };
  const wait = async (isDone: (shown: string) => boolean, what: string) => {
    const shown = await look(isDone, LOOKS);
    if (shown === null) throw new Error(`the terminal ${what}:\n${screen()}`);
    return shown;
  };
  return {
    home,
    data: join(home, ".opencode", "plugins", "background-agent"),
    directory,
    model,
    pid: () => Number(tmux("display-message", "-p", "#{pane_pid}")),
    screen,
    colours: () => tmux("capture-pane", "-p", "-e"),
    shows: (pattern) => wait((shown) => pattern.test(shown), `never showed ${pattern}`),
    hides: (pattern) => wait((shown) => !pattern.test(shown), `still shows ${pattern}`),
    press: (...keys) => void tmux("send-keys", ...keys),
    async enter(key, pattern) {
      for (let presses = 0; presses < PRESSES; presses++) {
        tmux("send-keys", key);
        const shown = await look((each) => pattern.test(each), LOOKS_PER_PRESS);
        if (shown !== null) return shown;
      }
      throw new Error(`after ${key} the terminal never showed ${pattern}:\n${screen()}`);
    },
    type: (text) => void tmux("send-keys", "-l", text),
    resize(width, height = rows) {
      shownSize = { width, height };
      setSize(shownSize);
    },
    async stop() {
      tmux("kill-server");
      release();
      if (options.model === undefined) await model.stop();
      rmSync(root, { recursive: true, force: true });
    },
  };
}
