/**
 * A command's connection to the daemon, opened on first use: finds or starts a daemon, and says so. A daemon of
 * another version is used, with a warning. Commands that need no daemon never touch this.
 */
import { setTimeout as pause } from "node:timers/promises";
import manifest from "../../package.json" with { type: "json" };
import { type Client, createClient } from "../client/client.ts";
import type { Configuration } from "../configuration/sections.ts";
import { type DaemonRecord, ensureDaemon, findDaemon } from "../daemon/find-daemon.ts";
import { type Trouble, troublesIn } from "../engine/watching/troubles.ts";
import { AsyncAgentsError, messageOf } from "../model/errors.ts";
import { DEPTH_VARIABLE, readDepth } from "../protocol/call-origin.ts";
import { storeSetting } from "../store/store-setting.ts";
import { warnOfOtherStore } from "./other-store.ts";
import type { Screen } from "./terminal/screen.ts";

/** How often a waiting command checks for trouble. */
const LOOK_MS = 2_000;
/** How often a command that only looks checks for the next daemon. */
const NEXT_MS = 250;
/** How long a daemon that does not answer may still be on its way out. */
const DYING_MS = 1_000;

export const DAEMON_STOPPED = "The daemon has stopped. Start it: asyncagents up";

interface ConnectionOptions {
  directory: string;
  screen: Screen;
  /** Aborted by Ctrl-C. */
  signal: AbortSignal;
  configuration(): Configuration;
}

export class Connection {
  readonly #directory: string;
  readonly #screen: Screen;
  readonly #signal: AbortSignal;
  readonly #configuration: () => Configuration;
  #opened: Promise<DaemonRecord> | null = null;
  #found: DaemonRecord | null = null;
  #isOtherStore = false;
  readonly #told = new Set<Trouble["kind"]>();
  #looking: ReturnType<typeof setInterval> | undefined;

  constructor({ directory, screen, signal, configuration }: ConnectionOptions) {
    this.#directory = directory;
    this.#screen = screen;
    this.#signal = signal;
    this.#configuration = configuration;
  }

  daemon(): Promise<DaemonRecord> {
    this.#opened ??= this.#open();
    return this.#opened;
  }

  async client(): Promise<Client> {
    const { url, token } = await this.daemon();
    // A command that one of our agents runs in its shell does not come from a person.
    const depth = readDepth(process.env[DEPTH_VARIABLE] ?? "");
    return createClient({
      url,
      token,
      origin: { door: "person", depth },
      fetch: (input, init) => this.#fetch(input, init),
    });
  }

  /** Whether the daemon that was found keeps its tasks elsewhere than the programs of this shell. */
  get isOtherStore(): boolean {
    return this.#isOtherStore;
  }

  /** Whether the daemon that was found is gone. */
  isGone(): boolean {
    return this.#found !== null && findDaemon(this.#directory)?.pid !== this.#found.pid;
  }

  /** A process that dies closes its connections before it is gone. */
  async #isGoneSoon(): Promise<boolean> {
    const deadline = performance.now() + DYING_MS;
    while (!this.isGone() && performance.now() < deadline && !this.#signal.aborted) await pause(NEXT_MS);
    return this.isGone();
  }

  /** Waits, while the daemon that was found is gone, until somebody has started another one. */
  async untilNext(signal: AbortSignal): Promise<void> {
    while (!signal.aborted && findDaemon(this.#directory) === null) await pause(NEXT_MS);
  }

  /** The next call finds or starts another one. */
  forget(): void {
    this.#opened = null;
  }

  async #open(): Promise<DaemonRecord> {
    // Read first: settings that cannot be used are reported here, not in the daemon's log.
    const wanted = this.#wantedStore();
    if (typeof wanted !== "string") this.#reportTroubles();
    const { daemon, started } = await this.#screen.during(
      "starting the daemon",
      ensureDaemon(this.#directory, { signal: this.#signal }),
    );
    this.#found = daemon;
    if (started) this.#screen.hint(`Started the daemon (pid ${daemon.pid}). Dashboard: ${daemon.url}`);
    if (wanted !== undefined) this.#isOtherStore = warnOfOtherStore(this.#screen, daemon, wanted);
    if (daemon.version !== manifest.version) {
      const versions = `The daemon is version ${daemon.version}, this command is ${manifest.version}.`;
      this.#screen.hint(`${versions} Restart it: asyncagents down && asyncagents up`);
    }
    return daemon;
  }

  /**
   * The PostgreSQL database that a daemon would use; null for SQLite. A daemon that runs keeps the settings that it
   * started with, so wrong ones do not keep anybody from cancelling a task: undefined then.
   */
  #wantedStore(): string | null | undefined {
    try {
      return storeSetting(this.#configuration().store)?.shown ?? null;
    } catch (thrown) {
      if (findDaemon(this.#directory) === null) throw thrown;
      this.#screen.hint(messageOf(thrown));
      return undefined;
    }
  }

  /** Reports once what keeps the data folder from working, even if it happens while the command waits. */
  #reportTroubles(): void {
    clearInterval(this.#looking);
    const look = () => {
      for (const { kind, message } of troublesIn(this.#directory)) {
        if (!this.#told.has(kind)) this.#screen.hint(message);
        this.#told.add(kind);
      }
    };
    look();
    this.#looking = setInterval(look, LOOK_MS).unref();
  }

  /** Ctrl-C aborts every call; a daemon that does not respond is a separate kind of failure. */
  async #fetch(input: string, init: RequestInit = {}): Promise<Response> {
    const signal = init.signal ? AbortSignal.any([init.signal, this.#signal]) : this.#signal;
    try {
      return await fetch(input, { ...init, signal });
    } catch (cause) {
      if (signal.aborted) throw cause;
      const message = (await this.#isGoneSoon())
        ? DAEMON_STOPPED
        : "The daemon does not answer. Restart it: asyncagents down --force && asyncagents up";
      throw new AsyncAgentsError("daemon_unavailable", message, { cause });
    }
  }
}
