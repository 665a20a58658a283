/**
 * Creates OpenCode hosts on its own `opencode serve`: one process for all directories, started on demand and restarted
 * with growing pauses when it dies. Its hosts report a death at once (`host.ended`), and every request goes to the
 * current process.
 */
import { setTimeout } from "node:timers/promises";
import { AsyncAgentsError, messageOf } from "../../model/errors.ts";
import { interruption } from "../../model/evidence.ts";
import type { HostMaker, OpenedHost, SessionProgram } from "../host-maker.ts";
import { type OpenCodeHost, openCodeHost } from "./opencode-host.ts";
import { type OpenCodeProcess, startOpenCodeProcess } from "./process.ts";
import { findOpenCode, NOT_INSTALLED } from "./program.ts";
import { type OpenCodeStream, openCodeStream } from "./stream.ts";
import { httpSend, type OpenCodeSend } from "./transport.ts";

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;
/** A process that ran this long did not fail to start. */
const STEADY_MS = 60_000;
/** OpenCode loads everything for a directory on the first request, and may install plugins. */
const FIRST_REQUEST_MS = 120_000;

interface OpenCodeServerOptions {
  /** The program to run; found on this machine by default. */
  command?: string;
  /** The complete environment of the program; defaults to that of this process. */
  environment?: Record<string, string | undefined>;
  /** Where the program starts; nobody else may be able to write there, or above. */
  folder: string;
  log: {
    info(message: string, details?: Record<string, unknown>): void;
    error(message: string, details?: Record<string, unknown>): void;
  };
}

export interface OpenCodeServer extends HostMaker {
  readonly kind: "opencode";
  attach(session: { directory: string; sessionId: string }): Promise<SessionProgram>;
  /** The current process. */
  readonly pid: number | null;
}

interface Running {
  process: OpenCodeProcess;
  stream: OpenCodeStream;
  since: number;
}

export function openCodeServer(options: OpenCodeServerOptions): OpenCodeServer {
  return new Server(options);
}

class Server implements OpenCodeServer {
  readonly kind = "opencode";
  readonly #options: OpenCodeServerOptions;
  readonly #environment: Record<string, string | undefined>;
  readonly #hosts = new Map<string, OpenCodeHost>();
  readonly #stopping = new AbortController();
  #running: Running | null = null;
  #starting: Promise<Running> | null = null;
  #pauseMs = 0;

  constructor(options: OpenCodeServerOptions) {
    this.#options = options;
    this.#environment = options.environment ?? process.env;
  }

  get pid(): number | null {
    return this.#running?.process.pid ?? null;
  }

  async problem(): Promise<string | null> {
    return this.#program() === null ? NOT_INSTALLED : null;
  }

  async open(directory: string): Promise<OpenedHost> {
    await this.#warm(directory);
    const host = openCodeHost({ send: this.#sendTo(directory) });
    this.#hosts.set(directory, host);
    return {
      host,
      close: async () => {
        if (this.#hosts.get(directory) !== host) return;
        this.#hosts.delete(directory);
        await this.#dispose(directory);
      },
    };
  }

  /** A client of this very server: there, a run that is live is seen as such, and nobody starts a second one. */
  async attach({ directory, sessionId }: { directory: string; sessionId: string }): Promise<SessionProgram> {
    const { url, credentials } = (await this.#ready()).process;
    return {
      program: this.#program() ?? "opencode",
      arguments: ["attach", url, "--dir", directory, "--session", sessionId],
      environment: credentials,
    };
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    const running = this.#running ?? (await this.#starting?.catch(() => null));
    this.#hosts.clear();
    running?.stream.stop();
    await running?.process.stop();
  }

  #program(): string | null {
    return findOpenCode(this.#environment, this.#options.command);
  }

  #sendTo(directory: string): OpenCodeSend {
    return async (request) => {
      const { url, headers } = (await this.#ready()).process;
      return httpSend({ url, headers, directory })(request);
    };
  }

  async #warm(directory: string): Promise<void> {
    const { url, headers } = (await this.#ready()).process;
    const target = new URL("/agent", url);
    target.searchParams.set("directory", directory);
    try {
      const response = await fetch(target, { headers, signal: AbortSignal.timeout(FIRST_REQUEST_MS) });
      const said = await response.text();
      if (!response.ok) throw new Error(`${response.status} ${said.slice(0, 300)}`);
    } catch (cause) {
      const message = `OpenCode could not open ${directory}: ${messageOf(cause)}`;
      throw new AsyncAgentsError("host_unavailable", message, { cause });
    }
  }

  /** Releases what OpenCode holds for the directory; nothing to do if it is dead. */
  async #dispose(directory: string): Promise<void> {
    if (!this.#running) return;
    const { url, headers } = this.#running.process;
    try {
      await httpSend({ url, headers, directory })({ method: "POST", path: "/instance/dispose" });
    } catch (thrown) {
      this.#options.log.info("OpenCode did not release a directory", { directory, error: messageOf(thrown) });
    }
  }

  async #ready(): Promise<Running> {
    if (this.#stopping.signal.aborted) throw unavailable("OpenCode is being stopped. Try again.");
    if (this.#running) return this.#running;
    this.#starting ??= this.#start().finally(() => {
      this.#starting = null;
    });
    return this.#starting;
  }

  async #start(): Promise<Running> {
    const program = this.#program();
    if (program === null) throw unavailable(NOT_INSTALLED);
    await setTimeout(this.#pauseMs, undefined, { signal: this.#stopping.signal }).catch(() => {});
    if (this.#stopping.signal.aborted) throw unavailable("OpenCode is being stopped. Try again.");
    this.#pauseMs = Math.min(LONGEST_PAUSE_MS, Math.max(FIRST_PAUSE_MS, this.#pauseMs * 2));
    const { log } = this.#options;
    const missed = () => {
      for (const host of this.#hosts.values()) host.missed();
    };
    const started = await startOpenCodeProcess({
      program,
      environment: this.#environment,
      folder: this.#options.folder,
      stopping: this.#stopping.signal,
    });
    const stream = openCodeStream({
      url: started.url,
      headers: started.headers,
      onEvent: (directory, event) => this.#hosts.get(directory)?.receive(event),
      onBreak: (reason) => {
        log.info("the OpenCode event stream broke; reconnecting", { reason });
        missed();
      },
      // Of a prompt that was sent meanwhile, events may be missing too.
      onAgain: missed,
    });
    const running: Running = { process: started, stream, since: performance.now() };
    const ended = started.ended.then((how) => {
      stream.stop();
      if (this.#running === running) this.#ended(running, how);
      throw unavailable(`OpenCode exited (${how}) right after it started. Try again.`);
    });
    ended.catch(() => {});
    await Promise.race([stream.connected, ended]);
    this.#running = running;
    log.info("OpenCode started", { pid: started.pid, url: started.url });
    return running;
  }

  #ended({ since }: Running, how: string): void {
    this.#running = null;
    if (this.#stopping.signal.aborted) return;
    if (performance.now() - since > STEADY_MS) this.#pauseMs = FIRST_PAUSE_MS;
    const { log } = this.#options;
    log.error("OpenCode's process ended; it is started again", { how, inMs: this.#pauseMs });
    const reason = interruption(
      `OpenCode's process ended (${how}) while the task was at work. It is started again: resume the task to go on.`,
    );
    for (const host of this.#hosts.values()) host.lose(reason);
    if (this.#hosts.size === 0) return;
    this.#ready().catch((thrown: unknown) => {
      if (!this.#stopping.signal.aborted) log.error("OpenCode did not start again", { error: messageOf(thrown) });
    });
  }
}

function unavailable(message: string): AsyncAgentsError {
  return new AsyncAgentsError("host_unavailable", message);
}
