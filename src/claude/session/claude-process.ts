/**
 * Owns the processes of one session: Claude's own, and those it starts. Claude puts each shell into its own process
 * session, so all of them carry a mark by which they are found (`process-guard.ts`). Invariant: when Claude's process
 * or this one ends in any way, none of them is left (on Linux; elsewhere Claude's process group).
 */
import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { settlesWithin } from "../../process/deadline.ts";
import { guardProcess } from "../../process/process-guard.ts";
import type { SdkOptions } from "../sdk.ts";

type Spawn = NonNullable<SdkOptions["spawnClaudeCodeProcess"]>;
type SpawnOptions = Parameters<Spawn>[0];

/** How Claude's process ended. */
export interface ProcessEnd {
  code: number | null;
  signal: string | null;
  /** The end of its standard error output. */
  complaint: string;
}

const MARK = "ASYNCAGENTS_CLAUDE_PROCESS";
const COMPLAINT_LENGTH = 4_000;

/** Claude's process and everything it starts. */
export class ClaudeProcess {
  /** Resolves when Claude's own process has exited. */
  readonly exited: Promise<ProcessEnd>;
  /** Resolves when the processes it started are gone, too. */
  readonly ended: Promise<ProcessEnd>;
  readonly #stderr: ((text: string) => void) | undefined;
  readonly #mark = randomUUID();
  #child: ChildProcess | undefined;
  #sweep: () => Promise<void> = async () => {};
  #resolve: (end: ProcessEnd) => void = () => {};

  constructor(stderr?: (text: string) => void) {
    this.#stderr = stderr;
    this.exited = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    this.ended = this.exited.then(async (end) => {
      await this.#sweep();
      return end;
    });
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  get isRunning(): boolean {
    return this.#child !== undefined && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** For the SDK: starts Claude in its own process group. */
  spawn({ command, args, cwd, env, signal }: SpawnOptions): ReturnType<Spawn> {
    const child = spawn(command, args, {
      ...(cwd !== undefined && { cwd }),
      env: { ...env, [MARK]: this.#mark },
      stdio: ["pipe", "pipe", "pipe"],
      detached: process.platform !== "win32",
      windowsHide: true,
    });
    this.#child = child;
    let complaint = "";
    child.stderr.setEncoding("utf8");
    child.stderr.on("data", (text: string) => {
      complaint = (complaint + text).slice(-COMPLAINT_LENGTH);
      this.#stderr?.(text);
    });
    signal.addEventListener("abort", () => this.signal("SIGTERM"));
    if (child.pid !== undefined) this.#sweep = guardProcess(child.pid, { name: MARK, value: this.#mark });
    const onEnd = (code: number | null, ending: string | null) =>
      this.#resolve({ code, signal: ending, complaint: complaint.trim() });
    child.once("exit", onEnd);
    child.once("error", () => onEnd(null, null));
    return child;
  }

  /** Signals Claude's process group. */
  signal(name: "SIGTERM" | "SIGKILL"): void {
    const { pid } = this;
    if (pid === undefined || !this.isRunning) return;
    try {
      if (process.platform === "win32") this.#child?.kill(name);
      else process.kill(-pid, name);
    } catch {
      // It has already exited.
    }
  }

  /** Resolves when all processes have ended: by themselves within `graceMs`, otherwise killed. */
  async end(graceMs: number): Promise<void> {
    if (!this.#child) return;
    for (const name of ["SIGTERM", "SIGKILL"] as const) {
      if (await settlesWithin(this.exited, { timeout: graceMs })) break;
      this.signal(name);
    }
    await this.ended;
  }
}
