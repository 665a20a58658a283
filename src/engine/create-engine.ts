/**
 * Makes an engine from a store and a host. Everything else has a default: the clocks, ids and identity of this process,
 * its own supervisor, the default settings, a log that discards its lines. Starts nothing.
 */
import type { Host } from "../hosts/host.ts";
import { systemClock } from "../process/clock.ts";
import { instanceJudge, isInstanceAlive, ownIdentity, type ProcessIdentity } from "../process/liveness.ts";
import type { Log } from "../process/log.ts";
import { makeId } from "../process/make-id.ts";
import type { Instance, Store } from "../store/store.ts";
import { DEFAULT_SETTINGS, type EngineContext, type Settings } from "./context.ts";
import { Engine } from "./engine.ts";
import { plainNoticeText } from "./notices/plain-notice-text.ts";
import { Supervisor } from "./supervisor.ts";

export interface EngineOptions extends Partial<Omit<EngineContext, "store" | "host" | "settings">> {
  /** Where tasks are kept; any number of engines and processes may share it. */
  store: Store;
  /** Runs the agents. */
  host: Host;
  /** The folder that the agents work in; the current one when absent. */
  directory?: string;
  /** Identifies this process, for other processes. */
  identity?: ProcessIdentity;
  /**
   * Identifies this machine, where several use one PostgreSQL store; it must be the same after a restart. With it, the
   * processes of other machines are judged by their leases, and `supervisor` must know it, too.
   */
  machine?: string;
  /** Settings that differ from `DEFAULT_SETTINGS`. */
  settings?: Partial<Settings>;
}

/**
 * An engine that has not started. Call `start`, then `recover`; at the end `interrupt`, then `stop`. The store stays
 * open.
 */
export function createEngine(options: EngineOptions): Engine {
  return new Engine(engineContext(options));
}

/** The options with all defaults filled in. */
export function engineContext(options: EngineOptions): EngineContext {
  const { store, host, newId = makeId, slots } = options;
  const { now = systemClock.now, monotonic = systemClock.monotonic, after = systemClock.after } = options;
  const { log = SILENT, machine = "" } = options;
  const isAlive = machine === "" ? isInstanceAlive : instanceJudge({ machine });
  const settings = { ...DEFAULT_SETTINGS, ...options.settings };
  const { pollMs } = settings;
  return {
    store,
    host,
    supervisor: options.supervisor ?? new Supervisor({ store, log, now, monotonic, after, isAlive, pollMs, machine }),
    settings,
    log,
    now,
    monotonic,
    after,
    newId,
    wordNotices: options.wordNotices ?? plainNoticeText,
    reach: options.reach ?? (() => {}),
    instance: options.instance ?? instanceOf(options, newId("ins"), now()),
    ...(slots && { slots }),
    ...(options.keepFolder && { keepFolder: options.keepFolder }),
    ...(options.changesOf && { changesOf: options.changesOf }),
  };
}

const SILENT: Log = { info() {}, error() {} };

function instanceOf(
  { host, directory = process.cwd(), identity, machine = "" }: EngineOptions,
  id: string,
  startedAt: number,
): Instance {
  const process = identity ?? ownIdentity();
  return { id, ...process, beat: 0, host: host.kind, directory, startedAt, machine, leaseLeft: null };
}
