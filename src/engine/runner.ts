/**
 * The engines of a process that starts its hosts itself: one for each host and directory, made when asked for and let go
 * when it has had nothing to do for a while. Sees to what dead processes left, once for all of them. What a task is and
 * how it ends is the engine's matter; which programs stand behind a host is the maker's.
 */
import { statSync } from "node:fs";
import { realpath } from "node:fs/promises";
import type { HostMaker, OpenedHost } from "../hosts/host-maker.ts";
import { AsyncAgentsError, messageOf } from "../model/errors.ts";
import { INTERRUPTED } from "../model/evidence.ts";
import { folderProblem } from "../model/folder-problem.ts";
import { asLine } from "../model/foreign-text.ts";
import { DEFAULT_LIMITS, type Limits } from "../model/limits.ts";
import type { Task } from "../model/task.ts";
import { awakeNow } from "../process/awake-clock.ts";
import { isInstanceAlive, ownIdentity } from "../process/liveness.ts";
import type { Log } from "../process/log.ts";
import { makeId } from "../process/make-id.ts";
import type { FeedEntry, Instance, Store } from "../store/store.ts";
import { DEFAULT_SETTINGS, type EngineContext, type NoticeText, type NoticeView } from "./context.ts";
import { Engine } from "./engine.ts";
import { findOrphans } from "./recovery/orphans.ts";
import { Slots } from "./runs/slots.ts";
import { Changes } from "./watching/changes.ts";

const IDLE_MS = 5 * 60_000;
const POLL_MS = DEFAULT_SETTINGS.pollMs;
const CHECK_MS = 30_000;
const RETRY_MS = 30_000;

export interface RunnerContext {
  store: Store;
  log: Log;
  makers: readonly HostMaker[];
  /** What a run may take, and how many are at work at once; nothing is limited when absent. */
  limits?: Limits;
  maxConcurrent?: number | null;
  /** How many may wait in line beyond those; any number when absent. */
  maxQueued?: number | null;
  /** How long an engine without a live run is kept. */
  idleMs?: number;
  /** The longest that a missed event, or the death of another process, goes unnoticed. */
  pollMs?: number;
  now?(): number;
  monotonic?(): number;
  newId?(prefix: string): string;
  isAlive?(instance: Instance): boolean;
}

interface Opened {
  engine: Engine;
  opened: OpenedHost;
}

export class Runner {
  readonly #context: Required<RunnerContext>;
  readonly #changes: Changes;
  readonly #opened = new Map<string, Opened>();
  readonly #slots: Slots;
  readonly #opening = new Map<string, Promise<Engine>>();
  readonly #closing = new Map<string, Promise<void>>();
  #started: Promise<void> | null = null;
  #recovering: Promise<void> | null = null;
  #idle: ReturnType<typeof setTimeout> | null = null;
  #sweep: ReturnType<typeof setTimeout> | null = null;
  #stopped = false;

  constructor(context: RunnerContext) {
    const unlimited = { limits: DEFAULT_LIMITS, maxConcurrent: null, maxQueued: null };
    const clocks = { now: Date.now, monotonic: awakeNow };
    this.#context = {
      ...unlimited,
      ...clocks,
      idleMs: IDLE_MS,
      pollMs: POLL_MS,
      newId: makeId,
      isAlive: isInstanceAlive,
      ...context,
    };
    this.#slots = new Slots(this.#context.maxConcurrent, this.#context.maxQueued);
    this.#changes = new Changes(context.store, context.log);
    this.#changes.onEntries((entries) => this.#heed(entries));
  }

  engines(): readonly Engine[] {
    return [...this.#opened.values()].map(({ engine }) => engine);
  }

  /** The engine of that host in that directory; `host_unavailable` with what to do where there can be none. */
  async open(host: string, directory: string): Promise<Engine> {
    const maker = this.#context.makers.find(({ kind }) => kind === host);
    if (maker === undefined) throw unavailable(`There is no host "${host}" here: ${this.#kinds()}.`);
    const real = await realOf(directory);
    const key = keyOf(host, real);
    const known = this.#opening.get(key);
    if (known) return known;
    if (this.#stopped) throw unavailable("The daemon is ending. Try again.");
    const opening = this.#open(maker, real, key).finally(() => this.#opening.delete(key));
    this.#opening.set(key, opening);
    return opening;
  }

  /**
   * Puts right what dead processes left: a task is seen to by an engine of its host in any directory, a launch by the one
   * of its own. What cannot be opened now is tried again later.
   */
  recover(): Promise<void> {
    this.#recovering ??= this.#recover().finally(() => {
      this.#recovering = null;
    });
    return this.#recovering;
  }

  /** Lets go of a directory that is about to go, whatever runs there. */
  async release(directory: string): Promise<void> {
    const real = await realOf(directory).catch(() => directory);
    await Promise.allSettled([...this.#opening].flatMap(([key, opening]) => (isIn(key, real) ? [opening] : [])));
    await Promise.all([...this.#opened.keys()].filter((key) => isIn(key, real)).map((key) => this.#close(key)));
  }

  /** Ends every live run as interrupted, then the hosts. */
  async stop(): Promise<void> {
    this.#stopped = true;
    if (this.#idle) clearTimeout(this.#idle);
    if (this.#sweep) clearTimeout(this.#sweep);
    await Promise.allSettled([...this.#opening.values(), this.#recovering]);
    await Promise.allSettled([...[...this.#opened.keys()].map((key) => this.#close(key)), ...this.#closing.values()]);
    await Promise.allSettled(this.#context.makers.map((maker) => maker.stop()));
    this.#changes.stop();
  }

  async #open(maker: HostMaker, directory: string, key: string): Promise<Engine> {
    await this.#closing.get(key);
    const known = this.#opened.get(key);
    if (known) return known.engine;
    const problem = await maker.problem();
    if (problem !== null) throw unavailable(problem);
    await this.#follow();
    const opened = await maker.open(directory);
    const engine = new Engine(this.#engineContext(opened, directory));
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

  /** Reads the feed from now on; a failure is tried again at the next call. */
  async #follow(): Promise<void> {
    this.#started ??= this.#changes.start().catch((thrown: unknown) => {
      this.#started = null;
      throw thrown;
    });
    await this.#started;
  }

  #engineContext({ host }: OpenedHost, directory: string): EngineContext {
    const { store, log, now, monotonic, newId, isAlive, pollMs, limits } = this.#context;
    const identity = { id: newId("ins"), ...ownIdentity(), beat: 0, host: host.kind, directory, startedAt: now() };
    return {
      ...{ store, host, log, now, monotonic, newId, isAlive, wordNotices },
      instance: identity,
      settings: { ...DEFAULT_SETTINGS, pollMs, limits, resumable: ["error", "cancelled"] },
      reach: () => {},
      changes: this.#changes,
      slots: this.#slots,
    };
  }

  /** Out of sight first: whoever asks from now on gets another one. */
  #close(key: string): Promise<void> {
    const known = this.#opened.get(key);
    if (!known) return Promise.resolve();
    this.#opened.delete(key);
    const closing = this.#end(known).finally(() => this.#closing.delete(key));
    this.#closing.set(key, closing);
    return closing;
  }

  async #end({ engine, opened }: Opened): Promise<void> {
    const { log } = this.#context;
    const { host, directory } = engine.instance;
    try {
      await engine.interrupt();
      await engine.stop();
      await opened.close();
    } catch (thrown) {
      log.error("a host was not closed as it should be", { host, directory, error: messageOf(thrown) });
    }
  }

  async #recover(): Promise<void> {
    const { store, isAlive, log, makers } = this.#context;
    let isDone = true;
    try {
      await this.#follow();
      const found = await findOrphans(store, isAlive);
      const isOurs = ({ host }: { host: string }) => makers.some(({ kind }) => kind === host);
      const byHost = Map.groupBy(found.tasks.filter(isOurs), ({ host }) => host);
      for (const [host, tasks] of byHost) isDone = (await this.#recoverTasks(host, tasks)) && isDone;
      for (const { host, directory } of found.launches.filter(isOurs)) {
        isDone = (await (await this.#tryOpen(host, directory))?.recover()) === true && isDone;
      }
      for (const instance of found.dead) await store.endInstance(instance.id);
      const own = new Set(this.engines().map(({ instance }) => instance.id));
      if (found.living.some(({ id }) => !own.has(id))) this.#sweepLater(this.#context.pollMs);
    } catch (thrown) {
      log.error("what dead processes left could not be put right; it is tried again", { error: messageOf(thrown) });
      isDone = false;
    }
    if (!isDone) this.#sweepLater(RETRY_MS);
  }

  /** Says whether it could be done. */
  async #recoverTasks(host: string, tasks: readonly Task[]): Promise<boolean> {
    const { store, now } = this.#context;
    const directories = [...new Set(tasks.map((task) => task.directory))];
    let engine = this.engines().find(({ instance }) => instance.host === host) ?? null;
    for (const directory of directories) engine ??= await this.#tryOpen(host, directory);
    if (engine) return engine.recover();
    const there = await Promise.all(directories.map((directory) => realOf(directory).catch(() => null)));
    if (there.some((directory) => directory !== null)) return false;
    // Where they worked is gone, so nothing can be asked about them any more.
    for (const { id, run, owner } of tasks) {
      const event = { type: "run.failed", at: now(), run: run.number, error: INTERRUPTED, progress: null } as const;
      await store.apply(id, event, { owner });
    }
    return true;
  }

  async #tryOpen(host: string, directory: string): Promise<Engine | null> {
    try {
      return await this.open(host, directory);
    } catch (thrown) {
      this.#context.log.error("a host for what a dead process left could not be opened", {
        ...{ host, directory, error: messageOf(thrown) },
      });
      return null;
    }
  }

  /** Another process has tasks: should it die, they are for us. */
  #heed(entries: readonly FeedEntry[]): void {
    const own = new Set(this.engines().map(({ instance }) => instance.id));
    const isForeign = ({ event }: FeedEntry) => {
      const owner = event.type === "task.created" ? event.task.owner : "owner" in event ? event.owner : null;
      return owner !== null && !own.has(owner);
    };
    if (entries.some(isForeign)) this.#sweepLater(this.#context.pollMs);
  }

  #sweepLater(delay: number): void {
    if (this.#sweep || this.#stopped) return;
    this.#sweep = setTimeout(() => {
      this.#sweep = null;
      void this.recover();
    }, delay);
    this.#sweep.unref();
  }

  #checkIdleLater(): void {
    if (this.#idle || this.#stopped || this.#opened.size === 0) return;
    this.#idle = setTimeout(
      () => {
        this.#idle = null;
        const latest = this.#context.monotonic() - this.#context.idleMs;
        for (const [key, { engine }] of this.#opened) {
          if (engine.liveRuns === 0 && engine.usedAt <= latest) void this.#close(key);
        }
        this.#checkIdleLater();
      },
      Math.min(this.#context.idleMs, CHECK_MS),
    );
    this.#idle.unref();
  }

  #kinds(): string {
    return this.#context.makers.map(({ kind }) => kind).join(", ");
  }
}

function keyOf(host: string, directory: string): string {
  return `${host}:${directory}`;
}

function isIn(key: string, directory: string): boolean {
  return key.slice(key.indexOf(":") + 1) === directory;
}

/** A host that is opened where there is no folder fails later, in words of its own. */
async function realOf(directory: string): Promise<string> {
  const problem = folderProblem(directory, statSync);
  if (problem === null) return realpath(directory);
  throw new AsyncAgentsError("host_unavailable", `The directory ${directory} ${problem}.`, { details: { directory } });
}

const LINE = 500;

/** For a parent whose own program is gone; the tools that it was given there are unknown here. */
function wordNotices(views: readonly NoticeView[]): NoticeText {
  const lines = views.map(({ task, run }) => {
    const outcome = run.outcome ?? task.phase ?? task.status;
    return `Background task ${task.id} (${asLine(task.description, LINE)}): ${outcome}. ${asLine(run.error ?? "", LINE)}`.trim();
  });
  return { visible: lines.join("\n"), hidden: "Read the results with the tool that shows the output of a task." };
}

function unavailable(message: string): AsyncAgentsError {
  return new AsyncAgentsError("host_unavailable", message);
}
