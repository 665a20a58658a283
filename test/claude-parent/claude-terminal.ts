/**
 * The real Claude CLI in a terminal of its own (tmux), as a person uses it. What its model was told is read from the
 * requests to the scripted model; the screen only shows when it is ready. Ends its own tmux server, and nothing else.
 */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { attachLifeline } from "../../src/testing/lifeline.ts";

export const CLAUDE = join(
  dirname(Bun.resolveSync("@anthropic-ai/claude-agent-sdk-linux-x64/package.json", import.meta.dir)),
  "claude",
);

interface TerminalOptions {
  root: string;
  directory: string;
  environment: Record<string, string>;
  arguments: readonly string[];
}

/** What a person has answered before: the first questions of the CLI, for this key and this folder. */
export async function answerFirstQuestions(config: string, directory: string, key: string): Promise<void> {
  const file = join(config, ".claude.json");
  const known = await readFile(file, "utf8").then(JSON.parse, () => ({}));
  const project = { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true };
  const answers = {
    hasCompletedOnboarding: true,
    theme: "dark",
    bypassPermissionsModeAccepted: true,
    customApiKeyResponses: { approved: [key.slice(-20)], rejected: [] },
    projects: { ...known.projects, [directory]: project },
  };
  await mkdir(config, { recursive: true });
  await writeFile(file, JSON.stringify({ ...known, ...answers }));
  await writeFile(join(config, "settings.json"), JSON.stringify({ skipDangerousModePermissionPrompt: true }));
}

export class ClaudeTerminal {
  readonly #socket: string;
  readonly #environment: Record<string, string>;
  #release: () => void = () => {};

  private constructor(socket: string, environment: Record<string, string>) {
    this.#socket = socket;
    this.#environment = environment;
  }

  static async start(options: TerminalOptions): Promise<ClaudeTerminal> {
    const socket = join(options.root, `tmux-${crypto.randomUUID().slice(0, 8)}`);
    const environment = { ...options.environment, TERM: "xterm-256color" };
    const terminal = new ClaudeTerminal(socket, environment);
    const command = [CLAUDE, "--dangerously-skip-permissions", ...options.arguments];
    await terminal.#tmux("new-session", "-d", "-x", "160", "-y", "50", "-c", options.directory, ...command);
    const server = Number(await terminal.#tmux("display-message", "-p", "#{pid}"));
    terminal.#release = attachLifeline(server, socket);
    return terminal;
  }

  screen(): Promise<string> {
    return this.#tmux("capture-pane", "-p").catch(() => "");
  }

  /** Waits for the prompt line. */
  async ready(timeoutMs = 60_000): Promise<void> {
    const deadline = performance.now() + timeoutMs;
    while (performance.now() < deadline) {
      const screen = await this.screen();
      if (/^❯/m.test(screen) && !/Enter to confirm/.test(screen)) return;
      await Bun.sleep(50);
    }
    throw new Error(`Claude's prompt did not appear:\n${await this.screen()}`);
  }

  async send(text: string): Promise<void> {
    await this.#tmux("send-keys", "-l", text);
    // Typed at once with the text, Enter would be part of a pasted text.
    await Bun.sleep(300);
    await this.#tmux("send-keys", "Enter");
  }

  async key(name: string): Promise<void> {
    await this.#tmux("send-keys", name);
  }

  /** Leaves as a person does, and lets what is running go on. */
  async leave(): Promise<void> {
    await this.send("/exit");
    const isGone = this.closed();
    const deadline = performance.now() + 30_000;
    while (performance.now() < deadline) {
      const screen = await this.screen();
      if (screen === "") break;
      if (/Background work is running/.test(screen)) {
        await this.key("Enter").catch(() => {});
        break;
      }
      await Bun.sleep(50);
    }
    await isGone;
  }

  async pid(): Promise<number> {
    return Number(await this.#tmux("display-message", "-p", "#{pane_pid}"));
  }

  async kill(): Promise<void> {
    process.kill(await this.pid(), "SIGKILL");
    await this.closed();
  }

  /** Resolves when the CLI has ended, and with it the terminal. */
  async closed(): Promise<void> {
    for (;;) {
      const isThere = await this.#tmux("has-session").then(
        () => true,
        () => false,
      );
      if (!isThere) break;
      await Bun.sleep(50);
    }
    this.#release();
  }

  async stop(): Promise<void> {
    await this.#tmux("kill-server").catch(() => {});
    this.#release();
  }

  async #tmux(...args: string[]): Promise<string> {
    const child = Bun.spawn(["tmux", "-f", "/dev/null", "-S", this.#socket, ...args], {
      env: this.#environment,
      stdio: ["ignore", "pipe", "pipe"],
    });
    const [stdout, stderr, code] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ]);
    if (code !== 0) throw new Error(`tmux ${args[0]} failed: ${stderr}`);
    return stdout;
  }
}
