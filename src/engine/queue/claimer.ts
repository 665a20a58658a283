/**
 * Claims queued runs for this process while it has room, and begins them. Looks when something was queued or ended, and
 * once in a while, since events may get lost. Until a claimed run has begun, its claim is extended; what goes wrong
 * before that ends the run, or gives it back if it may begin later or elsewhere; what would meet the same is then not
 * claimed for a while. A begun run is its engine's.
 */
import { AsyncAgentsError, messageOf } from "../../model/errors.ts";
import type { TaskClone } from "../../model/task.ts";
import { withoutCredentials } from "../../model/text/without-credentials.ts";
import type { Clock } from "../../process/clock.ts";
import type { Log } from "../../process/log.ts";
import { SerialQueue } from "../../process/serial-queue.ts";
import type { ClaimedRun, ClaimRequest, HostFolder, QueueLimits } from "../../store/queue/run-queue.ts";
import type { RunnerLack } from "../../store/runners/records.ts";
import type { FeedEntry, Store } from "../../store/store.ts";
import type { Engine } from "../engine.ts";
import { moved } from "./moved-folder.ts";

const LEASE_MS = 60_000;
const POLL_MS = 5_000;
/** How long a host that could not be opened gets no runs. */
const HOST_REST_MS = 60_000;
/** How long runs are left to others whose repository could not be cloned here. */
const REMOTE_REST_MS = 5 * 60_000;
/** How many of them a runner remembers. */
const MOST_RESTING = 100;
const MAX_REASON = 1_000;
/** How many runs are claimed in one transaction. */
const MOST_AT_ONCE = 1_000;

/** What a runner takes from the queue. */
export interface RunnerOffer extends Pick<ClaimRequest, "hosts" | "labels" | "machine"> {
  /** Identifies the runner. */
  id: string;
  /** The machine's name, for people. */
  name: string;
  /** How many runs it does at once. */
  max: number;
  limits: QueueLimits;
}

/** The folder of a run on this machine. */
export interface RunFolder {
  directory: string;
  /** Null if it is the folder that the task was launched for. */
  clone: TaskClone | null;
}

export interface ClaimerContext extends Clock {
  store: Store;
  log: Log;
  offer: RunnerOffer;
  /** The engines of this process. */
  engines(): readonly Engine[];
  open(host: string, directory: string): Promise<Engine>;
  /**
   * Where this machine has, or gets, the folder of a run. Rejects with `repo_unavailable` if another machine may do
   * better.
   */
  folderOf(claimed: ClaimedRun): Promise<RunFolder>;
  onEntries(listener: (entries: readonly FeedEntry[]) => void): () => void;
  /** Calls back when a run of this process has ended: sooner than its entry arrives. */
  onEnded(listener: () => void): () => void;
  /** Whether the lease of the runner's instance goes on: without it, others may think that the runner is gone. */
  mayAct(): boolean;
  /** Folders that this process has open and runs wait for; none when absent. */
  folders?(): Promise<readonly HostFolder[]>;
  leaseMs?: number;
  pollMs?: number;
}

export class Claimer {
  readonly #context: ClaimerContext;
  readonly #leaseMs: number;
  /** Claims whose runs have not begun. A run may have two: one that ran out on the way, and the next one. */
  readonly #beginning = new Set<ClaimedRun>();
  /** Hosts and repositories that could not be had, until when they are not tried again, and why. */
  readonly #resting = new Map<string, RunnerLack & { until: number }>();
  readonly #looks = new SerialQueue();
  #isDue = false;
  /** Whether the queue may hold something for this runner. */
  #mayWait = true;
  #stopListening: (() => void) | null = null;
  #isStopped = false;
  #cancelTimers: (() => void)[] = [];

  constructor(context: ClaimerContext) {
    this.#context = context;
    this.#leaseMs = context.leaseMs ?? LEASE_MS;
  }

  start(): void {
    const stops = [
      this.#context.onEntries((entries) => this.#heed(entries)),
      this.#context.onEnded(() => this.#lookIfAny()),
    ];
    this.#stopListening = () => {
      for (const stop of stops) stop();
    };
    this.#every(this.#context.pollMs ?? POLL_MS, () => {
      this.#mayWait = true;
      this.#look();
    });
    this.#every(this.#leaseMs / 3, () => void this.#extend());
    this.#look();
  }

  /** How many runs this process has now, those that are about to begin included. */
  get load(): number {
    const driven = this.#context.engines().reduce((sum, { liveRuns }) => sum + liveRuns, 0);
    return driven + this.#beginning.size;
  }

  /** What this runner could not do lately, and does not try now. */
  get lacks(): RunnerLack[] {
    return this.#lacks.map(({ kind, name, reason }) => ({ kind, name: withoutCredentials(name), reason }));
  }

  /** With the addresses of repositories as they are stored. */
  get #lacks(): RunnerLack[] {
    const now = this.#context.monotonic();
    for (const [key, { until }] of this.#resting) if (until <= now) this.#resting.delete(key);
    return [...this.#resting.values()].map(({ kind, name, reason }) => ({ kind, name, reason }));
  }

  /** Claims nothing more. What was claimed still begins: once this resolves, `load` has all of it. */
  async drain(): Promise<void> {
    this.#stopListening?.();
    this.#stopListening = null;
    await this.#looks.idle();
  }

  /** Also stops extending claims, and gives back what it still gets. Resolves when nothing is being claimed. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    for (const cancel of this.#cancelTimers.splice(0)) cancel();
    await this.drain();
  }

  get #isDraining(): boolean {
    return this.#stopListening === null;
  }

  #every(ms: number, work: () => void): void {
    const index = this.#cancelTimers.length;
    const again = () => {
      this.#cancelTimers[index] = this.#context.after(ms, run, { background: true });
    };
    const run = () => {
      work();
      again();
    };
    again();
  }

  #heed(entries: readonly FeedEntry[]): void {
    for (const { event } of entries) {
      if (event.type === "run.requeued" || event.type === "task.edited") this.#mayWait = true;
      // What it started after has ended.
      if (event.type === "run.phased" && event.phase === "queued" && event.detail === null) this.#mayWait = true;
      if (event.type === "task.created" && event.task.sessionId === "") this.#mayWait = true;
    }
    // Also after other events: an end makes room within the limits of all runners.
    this.#lookIfAny();
  }

  #lookIfAny(): void {
    if (this.#mayWait) this.#look();
  }

  /** One at a time, and once for everything that happened meanwhile. */
  #look(): void {
    if (this.#isDue || this.#isDraining) return;
    this.#isDue = true;
    void this.#looks.run(async () => {
      this.#isDue = false;
      await this.#claim().catch((thrown: unknown) => {
        this.#context.log.error("the queue could not be read; it is tried again", { error: messageOf(thrown) });
      });
    });
  }

  async #claim(): Promise<void> {
    const { store, offer, now } = this.#context;
    const count = Math.min(offer.max - this.load, MOST_AT_ONCE);
    const lacks = this.#lacks;
    const isHad = (host: string) => !lacks.some(({ kind, name }) => kind === "host" && name === host);
    const hosts = offer.hosts.filter(isHad);
    const withoutRemotes = lacks.flatMap(({ kind, name }) => (kind === "repository" ? [name] : []));
    if (count <= 0 || this.#isDraining || !this.#context.mayAct()) return;
    const folders = (await this.#context.folders?.())?.filter(({ host }) => isHad(host)) ?? [];
    if (hosts.length === 0 && folders.length === 0) {
      this.#mayWait = lacks.length > 0;
      return;
    }
    const { id: runner, labels, machine, limits } = offer;
    const leaseMs = this.#leaseMs;
    const claim = { runner, hosts, labels, machine, folders, withoutRemotes, limits, count, leaseMs, at: now() };
    const runs = await store.queue.claim(claim);
    this.#mayWait = runs.length === count || Object.keys(limits).length > 0;
    if (this.#isStopped) return this.#giveBack(runs);
    for (const run of runs) {
      this.#beginning.add(run);
      void this.#begin(run).finally(() => {
        this.#beginning.delete(run);
        this.#look();
      });
    }
  }

  async #begin(claimed: ClaimedRun): Promise<void> {
    const { log, folderOf, open } = this.#context;
    const { host } = claimed.run;
    const task = claimed.taskId;
    try {
      const folder = await folderOf(withPlainRemote(claimed));
      let engine: Engine;
      try {
        engine = await open(host, folder.directory);
      } catch (thrown) {
        const reason = messageOf(thrown);
        log.error("a host could not be opened; another runner may have it", { task, host, error: reason });
        await this.#leave(claimed, { kind: "host", name: host, reason }, HOST_REST_MS);
        return;
      }
      // The host is opened by the real path, which may not be what was looked at any more.
      if (folder.clone === null && engine.instance.directory !== folder.directory) throw moved(folder.directory);
      await engine.launchClaimed(claimed, folder.clone);
    } catch (thrown) {
      const isLost = AsyncAgentsError.isInstance(thrown) && thrown.code === "task_not_live";
      if (isLost && !(await this.#isHeld(claimed))) {
        return log.info("a claimed run is not this runner's any more", { task });
      }
      log.error("a claimed run could not begin", { task, error: messageOf(thrown) });
      if (isPassing(thrown)) {
        return this.#leave(claimed, { kind: "host", name: host, reason: messageOf(thrown) }, POLL_MS);
      }
      const { remote } = claimed.run;
      if (remote !== null && AsyncAgentsError.isInstance(thrown) && thrown.code === "repo_unavailable") {
        const lack = { kind: "repository", name: remote, reason: thrown.message } as const;
        return this.#leave(claimed, lack, REMOTE_REST_MS);
      }
      await this.#fail(claimed, messageOf(thrown));
    }
  }

  /** Also true if the store does not say. */
  #isHeld(claimed: ClaimedRun): Promise<boolean> {
    const lease = { leaseMs: this.#leaseMs, at: this.#context.now() };
    return this.#context.store.queue.extend([claimed], lease).then(
      (lost) => lost.length === 0,
      () => true,
    );
  }

  /** Gives a claim back, and does not try the same again for a while. */
  async #leave(claimed: ClaimedRun, lack: RunnerLack, restMs: number): Promise<void> {
    const { offer, monotonic } = this.#context;
    const key = `${lack.kind} ${lack.name}`;
    this.#resting.delete(key);
    this.#resting.set(key, { ...lack, reason: lack.reason.slice(0, MAX_REASON), until: monotonic() + restMs });
    const oldest = this.#resting.keys().next().value;
    if (this.#resting.size > MOST_RESTING && oldest !== undefined) this.#resting.delete(oldest);
    await this.#giveBack([claimed], `${offer.name}: ${lack.reason}`.slice(0, MAX_REASON));
  }

  async #giveBack(runs: readonly ClaimedRun[], trouble?: string): Promise<void> {
    const { store, log } = this.#context;
    for (const claimed of runs) {
      await store.queue.release(claimed, trouble).catch((thrown: unknown) => {
        const error = messageOf(thrown);
        log.error("a claim could not be given back; it runs out", { task: claimed.taskId, error });
      });
    }
  }

  /** Nothing was prompted, and no other runner would do better. */
  async #fail(claimed: ClaimedRun, error: string): Promise<void> {
    try {
      await failClaimed(this.#context, claimed, error);
    } catch (thrown) {
      const reason = messageOf(thrown);
      this.#context.log.error("the end of a run could not be stored", { task: claimed.taskId, error: reason });
      await this.#leave(claimed, { kind: "host", name: claimed.run.host, reason }, POLL_MS);
    }
  }

  async #extend(): Promise<void> {
    const { store, log, now } = this.#context;
    if (this.#beginning.size === 0) return;
    try {
      await store.queue.extend([...this.#beginning], { leaseMs: this.#leaseMs, at: now() });
    } catch (thrown) {
      log.error("claims could not be extended; it is tried again", { error: messageOf(thrown) });
    }
  }
}

/** Earlier versions stored the address of a repository with the token that was in it. */
function withPlainRemote(claimed: ClaimedRun): ClaimedRun {
  const { run } = claimed;
  return run.remote === null ? claimed : { ...claimed, run: { ...run, remote: withoutCredentials(run.remote) } };
}

/** Ends a claimed run that was not begun. */
export async function failClaimed(
  { store, now }: Pick<ClaimerContext, "store" | "now">,
  { taskId, fence, task }: ClaimedRun,
  error: string,
): Promise<void> {
  const event = { type: "run.failed", at: now(), run: task.run.number, error, progress: null } as const;
  await store.write(async (transaction) => {
    await transaction.begin({ taskId, fence });
    return transaction.apply(taskId, event);
  });
}

/** A claim that was not lost does not begin while its owner is not registered. */
const PASSING: ReadonlySet<string> = new Set(["store_unavailable", "too_many_tasks", "task_not_live"]);

/** Whether the same run may begin a little later. */
function isPassing(thrown: unknown): boolean {
  return AsyncAgentsError.isInstance(thrown) && PASSING.has(thrown.code);
}
