/**
 * The engines of a process that starts its hosts itself: one for each host and directory, opened when needed and closed
 * after it had nothing to do for a while. Its supervisor opens hosts here to recover tasks of dead processes. The
 * engine handles tasks; the maker of a host owns the programs behind it.
 */
import { realpathSync, statSync } from "node:fs";
import type { HostMaker, OpenedHost } from "../hosts/host-maker.ts";
import type { NewBudgets } from "../model/budgets/budget.ts";
import type { Prices } from "../model/budgets/prices.ts";
import { AsyncAgentsError, messageOf } from "../model/errors.ts";
import { folderProblem } from "../model/folder-problem.ts";
import { DEFAULT_LIMITS, type Limits } from "../model/limits.ts";
import type { RequestRule } from "../model/request-policy.ts";
import { type Clock, systemClock } from "../process/clock.ts";
import { isInstanceAlive, ownIdentity, type ProcessIdentity } from "../process/liveness.ts";
import type { Log } from "../process/log.ts";
import { isSameMachine } from "../process/machine.ts";
import { makeId } from "../process/make-id.ts";
import type { Instance, Store } from "../store/store.ts";
import { DEFAULT_SETTINGS, type NoticeText, type NoticeView } from "./context.ts";
import { createEngine } from "./create-engine.ts";
import type { Engine } from "./engine.ts";
import { FolderGate, isWithin } from "./folder-gate.ts";
import { type Member, memberWithoutTasks } from "./member.ts";
import { plainNoticeText } from "./notices/plain-notice-text.ts";
import { Slots } from "./runs/slots.ts";
import { Supervisor } from "./supervisor.ts";
import type { Telemetry } from "./telemetry/telemetry.ts";
import { TranscriptKeeper } from "./transcripts/transcript-keeper.ts";
import { allTasks } from "./watching/all-tasks.ts";
import type { EntriesListener } from "./watching/changes.ts";

const IDLE_MS = 5 * 60_000;
const POLL_MS = DEFAULT_SETTINGS.pollMs;
const CHECK_MS = 30_000;
const RETRY_MS = 30_000;

interface RunnerContext extends Partial<Clock> {
  store: Store;
  log: Log;
  makers: readonly HostMaker[];
  /** The limits of a run, and how many may work at once. No limits when absent. */
  limits?: Limits;
  maxConcurrent?: number | null;
  /** Written rules about what agents ask; none when absent. */
  rules?: readonly RequestRule[];
  /** The budgets of launches that bring none; none when absent. */
  budgets?: NewBudgets;
  /** What models cost whose host does not say. */
  prices?: Prices;
  /** How many may be queued beyond those. Any number when absent. */
  maxQueued?: number | null;
  /** How long an engine without a live run is kept. */
  idleMs?: number;
  /** The longest time that a missed event, or the death of another process, goes unnoticed. */
  pollMs?: number;
  newId?(prefix: string): string;
  isAlive?(instance: Instance): boolean;
  /** Identifies this process. */
  identity?: ProcessIdentity;
  /** The machine of this process, where others use the same store; only this one when absent. */
  machine?: string;
  /** Reports what its runs did; nobody when absent. */
  telemetry?: Telemetry | null;
  /** Words notices for a parent; plainly when absent. */
  wordNotices?(views: readonly NoticeView[]): NoticeText;
}

interface Opened {
  engine: Engine;
  opened: OpenedHost;
}

export class Runner {
  readonly #context: Required<RunnerContext>;
  readonly #supervisor: Supervisor;
  readonly #opened = new Map<string, Opened>();
  readonly #slots: Slots;
  /** Null if the store is used by one machine only. */
  readonly #keeper: TranscriptKeeper | null;
  readonly #gate: FolderGate;
  readonly #opening = new Map<string, Promise<Engine>>();
  readonly #closing = new Map<string, Promise<void>>();
  readonly #endListeners = new Set<() => void>();
  /** The instance of the process itself, besides those of its engines. */
  #own: Member | null = null;
  #cancelIdleCheck: (() => void) | null = null;
  #stopped = false;

  constructor(context: RunnerContext) {
    this.#context = {
      limits: DEFAULT_LIMITS,
      rules: [],
      budgets: {},
      prices: {},
      maxConcurrent: null,
      maxQueued: null,
      ...systemClock,
      idleMs: IDLE_MS,
      pollMs: POLL_MS,
      newId: makeId,
      isAlive: isInstanceAlive,
      identity: ownIdentity(),
      machine: "",
      telemetry: null,
      wordNotices: plainNoticeText,
      ...context,
    };
    this.#keeper = this.#context.machine === "" ? null : new TranscriptKeeper(this.#context);
    this.#gate = new FolderGate(this.#context);
    this.#slots = new Slots(this.#context.maxConcurrent, this.#context.maxQueued);
    const { store, log, now, monotonic, after, isAlive, pollMs, makers, machine } = this.#context;
    const opener = {
      has: (host: string) => makers.some(({ kind }) => kind === host),
      open: (host: string, directory: string) => this.open(host, directory),
    };
    this.#supervisor = new Supervisor({
      store,
      log,
      now,
      monotonic,
      after,
      isAlive,
      pollMs,
      machine,
      retryMs: RETRY_MS,
      opener,
    });
  }

  engines(): readonly Engine[] {
    return [...this.#opened.values()].map(({ engine }) => engine);
  }

  /** The engine of that host in that directory. Throws `host_unavailable`, with advice, if there can be none. */
  async open(host: string, directory: string): Promise<Engine> {
    const maker = this.#context.makers.find(({ kind }) => kind === host);
    if (maker === undefined) throw unavailable(`There is no host "${host}" here: ${this.#kinds()}.`);
    const real = realOf(directory);
    const key = keyOf(host, real);
    const known = this.#opening.get(key);
    if (known) return known;
    if (this.#stopped) throw unavailable("The daemon is ending. Try again.");
    const opening = this.#gate.keep(real, () => this.#open(maker, real, key)).finally(() => this.#opening.delete(key));
    this.#opening.set(key, opening);
    return opening;
  }

  /** Registers an instance for the process itself, which lives until the stop. */
  async register(instance: Instance): Promise<void> {
    const own = memberWithoutTasks(instance);
    await this.#supervisor.add(own);
    this.#own = own;
  }

  /** Whether the lease of that instance goes on, as far as this process knows; always true if it needs none. */
  holdsLease(instanceId: string): boolean {
    return this.#supervisor.lease(instanceId)?.isHeld !== false;
  }

  /** Calls back with new entries of the feed, which this process reads from the first engine or recovery on. */
  onEntries(listener: EntriesListener): () => void {
    return this.#supervisor.changes.onEntries(listener);
  }

  /** Calls back when a run of one of its engines has ended, or needs attention. */
  onEnded(listener: () => void): () => void {
    this.#endListeners.add(listener);
    return () => this.#endListeners.delete(listener);
  }

  /** Recovers what dead processes left. If a host cannot be opened now, it is tried again later. */
  recover(): Promise<boolean> {
    return this.#supervisor.recover();
  }

  /**
   * Does work that removes a folder, while nothing begins in it or below it. Rejects with `worktree_busy` if a task is
   * live there. The work calls `vacate` directly before it removes anything: that looks once more, for other processes,
   * and closes the engines there. With `force`, whatever runs there is interrupted.
   */
  removing<T>(
    directory: string,
    { force }: { force: boolean },
    work: (vacate: () => Promise<void>) => Promise<T>,
  ): Promise<T> {
    const real = realIfThere(directory);
    const assertIdle = async () => {
      if (!force) await this.#assertIdle(real);
    };
    return this.#gate.close(real, async () => {
      await assertIdle();
      return work(async () => {
        await assertIdle();
        await Promise.all([...this.#opened.keys()].filter((key) => isIn(key, real)).map((key) => this.#close(key)));
      });
    });
  }

  /** Closes the engines of a directory and of its subfolders, whatever runs there. */
  release(directory: string): Promise<void> {
    return this.removing(directory, { force: true }, (vacate) => vacate());
  }

  async #assertIdle(directory: string): Promise<void> {
    const { store, machine } = this.#context;
    const live = await allTasks(store, { status: ["running", "resumed"] });
    const task = live.find((each) => isSameMachine(each.machine, machine) && isWithin(each.directory, directory));
    if (task === undefined) return;
    const message = `Task ${task.id} works in ${task.directory}. Wait until it has ended, or cancel it, then try again.`;
    throw new AsyncAgentsError("worktree_busy", message, { details: { directory, task: task.id } });
  }

  /** Marks every live run as interrupted, then stops the hosts. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancelIdleCheck?.();
    this.#supervisor.stop();
    await Promise.allSettled([...this.#opening.values(), this.#supervisor.idle()]);
    for (const key of [...this.#opened.keys()]) void this.#close(key);
    await Promise.allSettled(this.#closing.values());
    if (this.#own) await Promise.allSettled([this.#supervisor.remove(this.#own)]);
    await Promise.allSettled(this.#context.makers.map((maker) => maker.stop()));
  }

  async #open(maker: HostMaker, directory: string, key: string): Promise<Engine> {
    await this.#closing.get(key);
    const known = this.#opened.get(key);
    if (known) return known.engine;
    const problem = await maker.problem();
    if (problem !== null) throw unavailable(problem);
    const opened = await maker.open(directory);
    const engine = this.#makeEngine(opened, directory);
    this.#keeper?.follow(engine);
    this.#context.telemetry?.follow(engine);
    engine.onEnded(() => {
      for (const listener of this.#endListeners) listener();
    });
    try {
      await engine.start();
    } catch (thrown) {
      await opened.close();
      throw thrown;
    }
    this.#opened.set(key, { engine, opened });
    this.#checkIdleLater();
    return engine;
  }

  #makeEngine({ host }: OpenedHost, directory: string): Engine {
    const { pollMs, limits, rules, budgets, prices, ...shared } = this.#context;
    return createEngine({
      ...shared,
      host,
      directory,
      settings: { pollMs, limits, rules, budgets, prices, resumable: ["error", "cancelled"] },
      supervisor: this.#supervisor,
      keepFolder: (work) => this.#gate.keep(directory, work),
      slots: this.#slots,
    });
  }

  /** Hidden at once: later callers get a new one. */
  #close(key: string): Promise<void> {
    const known = this.#opened.get(key);
    if (!known) return Promise.resolve();
    this.#opened.delete(key);
    const closing = this.#end(known).finally(() => this.#closing.delete(key));
    this.#closing.set(key, closing);
    return closing;
  }

  async #end({ engine, opened }: Opened): Promise<void> {
    const { log, telemetry } = this.#context;
    const { host, directory } = engine.instance;
    // What has just ended is still read from the host.
    const interrupt = () => engine.interrupt().finally(() => Promise.all([telemetry?.idle(), this.#keeper?.idle()]));
    // Whatever the store does: the host lets go of the directory.
    for (const step of [interrupt, () => engine.stop(), () => opened.close()]) {
      await step().catch((thrown: unknown) => {
        log.error("a host was not closed as it should be", { host, directory, error: messageOf(thrown) });
      });
    }
  }

  #checkIdleLater(): void {
    if (this.#cancelIdleCheck || this.#stopped || this.#opened.size === 0) return;
    this.#cancelIdleCheck = this.#context.after(
      Math.min(this.#context.idleMs, CHECK_MS),
      () => {
        this.#cancelIdleCheck = null;
        const latest = this.#context.monotonic() - this.#context.idleMs;
        for (const [key, { engine }] of this.#opened) {
          if (engine.liveRuns === 0 && engine.usedAt <= latest) void this.#close(key);
        }
        this.#checkIdleLater();
      },
      { background: true },
    );
  }

  #kinds(): string {
    return this.#context.makers.map(({ kind }) => kind).join(", ");
  }
}

function keyOf(host: string, directory: string): string {
  return `${host}:${directory}`;
}

function isIn(key: string, directory: string): boolean {
  return isWithin(key.slice(key.indexOf(":") + 1), directory);
}

function realIfThere(directory: string): string {
  return folderProblem(directory, statSync) === null ? realpathSync(directory) : directory;
}

/** Checked first: a host that is opened without a folder fails later, with a less helpful error. */
function realOf(directory: string): string {
  const problem = folderProblem(directory, statSync);
  if (problem === null) return realpathSync(directory);
  throw new AsyncAgentsError("host_unavailable", `The directory ${directory} ${problem}.`, { details: { directory } });
}

function unavailable(message: string): AsyncAgentsError {
  return new AsyncAgentsError("host_unavailable", message);
}
