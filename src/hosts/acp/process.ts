/**
 * One process of an ACP agent, in a process group of its own, with everything that it starts. Agents leave helpers and
 * the shells of their tools behind, in groups and sessions of their own; all of them carry a mark in their environment.
 * Invariant: when the agent's process or this one ends in any way, none of them is left (on Linux; elsewhere the
 * process group). Knows nothing of the protocol.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { Readable } from "node:stream";
import { settlesWithin } from "../../process/deadline.ts";
import { guardProcess } from "../../process/process-guard.ts";

const MARK = "ASYNCAGENTS_ACP_PROCESS";
const COMPLAINT_LENGTH = 4_000;
/** What an agent may send while it does not read: what it asks is answered, and the answers wait here. */
const MOST_UNHEARD_BYTES = 8 * 1024 * 1024;

/** What starts an agent. */
export interface AgentCommand {
  program: string;
  arguments: readonly string[];
  /** The complete environment. */
  environment: Readonly<Record<string, string | undefined>>;
}

export class AgentProcess {
  /** Resolves with how the agent's own process ended. */
  readonly exited: Promise<string>;
  /** Resolves when nothing that it started is left, too. */
  readonly ended: Promise<string>;
  readonly #child: ChildProcess;
  readonly #sweep: () => Promise<void>;
  #complaint = "";
  /** What came since the write began that the agent has not taken yet; null if it has taken everything. */
  #unheard: number | null = null;

  constructor({ program, arguments: given, environment }: AgentCommand, directory: string) {
    const mark = randomUUID();
    const child = spawn(program, [...given], {
      cwd: directory,
      env: { ...environment, [MARK]: mark },
      stdio: ["pipe", "pipe", "pipe"],
      detached: process.platform !== "win32",
      windowsHide: true,
    });
    this.#child = child;
    this.#sweep = child.pid === undefined ? async () => {} : guardProcess(child.pid, { name: MARK, value: mark });
    child.stderr?.setEncoding("utf8");
    child.stderr?.on("data", (text: string) => {
      this.#complaint = (this.#complaint + text).slice(-COMPLAINT_LENGTH);
    });
    // A write to a process that is gone is reported by its end.
    child.stdin?.on("error", () => {});
    child.stdout?.on("error", () => {});
    this.exited = new Promise((resolve) => {
      child.once("exit", (code, signal) => resolve(signal ?? `code ${code}`));
      child.once("error", (error) => resolve(error.message));
    });
    this.ended = this.exited.then(async (how) => {
      await this.#sweep();
      return how;
    });
  }

  get pid(): number | null {
    return this.#child.pid ?? null;
  }

  /** The last lines of its standard error output. */
  get complaint(): string {
    return this.#complaint.trim().split("\n").slice(-3).join(" ");
  }

  get input(): WritableStream<Uint8Array> {
    const { stdin } = this.#child;
    return new WritableStream({
      write: (bytes) =>
        new Promise((resolve, reject) => {
          this.#unheard = 0;
          stdin?.write(bytes, (error) => {
            this.#unheard = null;
            if (error) reject(error);
            else resolve();
          });
        }),
    });
  }

  get output(): ReadableStream<Uint8Array> {
    const sent = Readable.toWeb(this.#child.stdout ?? Readable.from([])) as ReadableStream<Uint8Array>;
    const limit = new TransformStream<Uint8Array, Uint8Array>({
      transform: (bytes, controller) => {
        if (this.#unheard !== null) this.#unheard += bytes.byteLength;
        if ((this.#unheard ?? 0) <= MOST_UNHEARD_BYTES) return controller.enqueue(bytes);
        throw new Error("it went on sending, and did not read what it was answered");
      },
    });
    return sent.pipeThrough(limit);
  }

  /** Resolves when all processes have ended: by themselves within `graceMs` after their input closed, or killed. */
  async end(graceMs: number): Promise<void> {
    if (graceMs > 0) this.#child.stdin?.end();
    if (graceMs === 0 || !(await settlesWithin(this.exited, { timeout: graceMs }))) await this.#kill();
    await this.ended;
  }

  /** The guard finds more while the agent lives than after its death. There may be none, as on Windows. */
  async #kill(): Promise<void> {
    await this.#sweep();
    const { pid } = this.#child;
    if (pid === undefined) return;
    try {
      if (process.platform === "win32") this.#child.kill("SIGKILL");
      else process.kill(-pid, "SIGKILL");
    } catch {
      // The guard has ended it.
    }
  }
}
