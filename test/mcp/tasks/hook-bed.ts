/**
 * A session of Claude Code as far as its hooks see it: the MCP server that it started, a process that stands for it,
 * and a transcript. The hooks are the real command.
 */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createClient } from "../../../src/client/client.ts";
import { COMMAND, type DaemonBed, mcpArguments } from "../daemon-bed.ts";
import { TaskClient } from "./task-client.ts";

const MAIN = mcpArguments()[0] ?? "";

interface EndedHook {
  code: number;
  text: string;
}

export class HookSession {
  readonly id: string;
  readonly client: TaskClient;
  readonly transcript: string;
  readonly #bed: DaemonBed;
  readonly #children = new Set<Bun.Subprocess>();
  #claude: Bun.Subprocess;

  constructor(bed: DaemonBed, id: string = crypto.randomUUID()) {
    this.#bed = bed;
    this.id = id;
    this.transcript = join(bed.root, `${crypto.randomUUID()}.jsonl`);
    this.client = TaskClient.stdio(bed, { CLAUDE_CODE_SESSION_ID: id });
    this.#claude = Bun.spawn(["sleep", "1000"]);
  }

  /** Starts a hook of this session; it ends by itself when there is something to tell, or nothing to wait for. */
  hook(event: "launch" | "start" | "prompt", input: object = {}): Promise<EndedHook> & { kill(): void } {
    const child = Bun.spawn([COMMAND, MAIN, "hook", event], {
      env: { ...this.#bed.environment, CLAUDE_PID: String(this.#claude.pid) },
      stdio: [
        new Blob([JSON.stringify({ session_id: this.id, transcript_path: this.transcript, ...input })]),
        "ignore",
        "pipe",
      ],
    });
    this.#children.add(child);
    const ended = Promise.all([child.exited, new Response(child.stderr).text()]).then(([code, text]) => ({
      code,
      text,
    }));
    return Object.assign(ended, { kill: () => child.kill("SIGKILL") });
  }

  /** The process of the session ends, as with kill -9, and another one has the session open. */
  async restart(): Promise<void> {
    this.#claude.kill("SIGKILL");
    await this.#claude.exited;
    this.#claude = Bun.spawn(["sleep", "1000"]);
  }

  async write(lines: readonly object[]): Promise<void> {
    await writeFile(this.transcript, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  }

  /** How the newest notice about a task stands. */
  async notice(handle: string) {
    const client = createClient({ url: this.#bed.url, ...(await this.#bed.token()) });
    return (await client.task(handle)).notice;
  }

  async close(): Promise<void> {
    await this.client.close();
    for (const child of [...this.#children, this.#claude]) {
      child.kill("SIGKILL");
      await child.exited;
    }
  }
}
