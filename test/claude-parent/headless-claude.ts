/** The real Claude CLI without a terminal: prompts go in and messages come out as JSON lines, as the SDK does it. */
import { attachLifeline } from "../../src/testing/lifeline.ts";
import { CLAUDE } from "./claude-terminal.ts";

interface HeadlessOptions {
  directory: string;
  environment: Record<string, string>;
  arguments: readonly string[];
}

interface CliMessage {
  type: string;
  subtype?: string;
  session_id?: string;
  origin?: { kind: string };
}

export class HeadlessClaude {
  readonly messages: CliMessage[] = [];
  readonly #child: Bun.Subprocess<"pipe", "pipe", "inherit">;
  readonly #watchers = new Set<() => void>();
  readonly #release: () => void;

  constructor({ directory, environment, arguments: args }: HeadlessOptions) {
    const fixed = ["-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose"];
    this.#child = Bun.spawn([CLAUDE, ...fixed, "--dangerously-skip-permissions", ...args], {
      cwd: directory,
      env: environment,
      stdio: ["pipe", "pipe", "inherit"],
    });
    this.#release = attachLifeline(this.#child.pid, `${directory}/none`);
    void this.#read();
  }

  send(text: string): void {
    const message = { type: "user", message: { role: "user", content: text } };
    this.#child.stdin.write(`${JSON.stringify(message)}\n`);
    this.#child.stdin.flush();
  }

  /** The session of the first message that names it. */
  async session(): Promise<string> {
    await this.#until(() => this.messages.some(({ session_id }) => session_id));
    return this.messages.find(({ session_id }) => session_id)?.session_id ?? "";
  }

  /** Resolves when that many turns are over. */
  async turns(count: number): Promise<void> {
    await this.#until(() => this.messages.filter(({ type }) => type === "result").length >= count);
  }

  async kill(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#child.exited;
  }

  /** Ends the input, and with it the session. */
  async stop(): Promise<void> {
    this.#child.kill("SIGTERM");
    await this.#child.exited;
    this.#release();
  }

  async #read(): Promise<void> {
    let text = "";
    for await (const chunk of this.#child.stdout.pipeThrough(new TextDecoderStream())) {
      text += chunk;
      const lines = text.split("\n");
      text = lines.pop() ?? "";
      for (const line of lines) this.messages.push(JSON.parse(line));
      for (const check of [...this.#watchers]) check();
    }
  }

  #until(condition: () => boolean): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const check = () => {
      if (!condition()) return;
      this.#watchers.delete(check);
      resolve();
    };
    this.#watchers.add(check);
    check();
    return promise;
  }
}
