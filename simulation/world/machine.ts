/**
 * What everything runs on: one timeline, one database, one machine or two (`places.ts`), and the processes of one seed.
 * Knows who is alive; does not know what anybody does.
 */

import { AsyncAgentsError, messageOf } from "../../src/model/errors.ts";
import { type BeatingProcess, instanceJudge, type LeasedProcess, ownIdentity } from "../../src/process/liveness.ts";
import type { Log } from "../../src/process/log.ts";
import { kyselyStore } from "../../src/store/kysely-store.ts";
import type { RunClaim, RunQueue } from "../../src/store/queue/run-queue.ts";
import type { Store } from "../../src/store/store.ts";
import type { HostContext } from "../agents/simulated-host.ts";
import { type SimulatedHost, simulatedHost } from "../agents/simulated-host.ts";
import { WorkLog } from "../agents/work-log.ts";
import { LAST_LOOK_MS, LEASE_MS } from "../time/promised.ts";
import { Random } from "../time/random.ts";
import { Timeline } from "../time/timeline.ts";
import { BeginTimes } from "./begin-times.ts";
import { CallLog } from "./call-log.ts";
import { EndTimes } from "./end-times.ts";
import { type Fault, Faults } from "./faults.ts";
import type { History } from "./history.ts";
import { Places } from "./places.ts";
import { RunWatch } from "./run-watch.ts";
import { type SimulatedSettings, settingsOf } from "./settings.ts";
import type { SharedDatabase } from "./shared-database.ts";
import { EPOCH, SimulatedProcess } from "./simulated-process.ts";
import { toldStore } from "./told-store.ts";
import { Troubles } from "./troubles.ts";

/** All processes are on this machine; each is in a container of its own, if they do not see each other. */
const BOOT = ownIdentity().bootId;

/** What keeps a living process from renewing its leases, besides what strikes it alone. */
const HOLDS_UP: readonly Fault[] = [
  "query is slow",
  "query fails",
  "query times out after its commit",
  "process freezes in a transaction",
];

export interface MachineOptions {
  seed: number;
  database: SharedDatabase;
  /** Kinds of faults that do not happen. */
  calm: ReadonlySet<string>;
  history: History;
}

/** Something that struck a process, or its start. */
export interface Incident {
  /** Milliseconds since the world began. */
  at: number;
  /** The role of the process, or `machine`. */
  role: string;
  what:
    | "starts"
    | "dies"
    | "freezes"
    | "sleeps"
    | "agent program dies"
    | "host does not answer"
    | "clock jumps"
    | "disk is full"
    | "is cut off"
    | "is gone for good";
  /** How long it lasts; 0 for what does not. */
  ms: number;
}

export class Machine {
  readonly seed: number;
  readonly timeline = new Timeline();
  readonly places: Places;
  readonly work = new WorkLog();
  readonly begins = new BeginTimes();
  readonly ends = new EndTimes();
  readonly troubles = new Troubles();
  readonly calls = new CallLog();
  readonly runs: RunWatch;
  /** The programs that each process has started, by its name. */
  readonly #programs = new Map<string, string[]>();
  /** Sessions of tasks in which a person wrote. */
  readonly written = new Set<string>();
  readonly random: Random;
  readonly faults: Faults;
  readonly history: History;
  readonly incidents: Incident[] = [];
  readonly #database: SharedDatabase;
  readonly #processes = new Map<number, SimulatedProcess>();
  readonly #hosts = new Set<SimulatedHost>();
  /** The process of each instance that was ever registered. */
  readonly instances = new Map<string, SimulatedProcess>();
  /** Who was last given each queued run, by the ids of the tasks. */
  readonly claimers = new Map<string, SimulatedProcess>();
  /** Beginnings of queued runs, by their messages, of which whoever began them was told that they failed. */
  readonly unheard = new Set<string>();
  readonly #hinderedUntil = new Map<string, number>();
  readonly #bornInPeace = new WeakSet<SimulatedProcess>();
  /** By role, ends the trouble that it has no process. */
  readonly #absences = new Map<string, (at: number) => void>();
  /** Since when a role has no process because that did not start. */
  readonly #missing = new Map<string, number>();
  /** When each process died, by its name, for whatever reason. */
  readonly deaths = new Map<string, number>();
  /** Since when processes that were asked to end interrupt what they still run, by their names. */
  readonly drained = new Map<string, number>();
  /** When each instance was registered last. */
  readonly #registeredAt = new Map<string, number>();
  #ids = 0;
  /** Whether all processes see each other; if not, only heartbeats or leases tell who is alive. */
  readonly areVisible: boolean;
  /** Whether those on one machine do. */
  readonly #areNeighboursVisible: boolean;
  readonly settings: SimulatedSettings;

  constructor({ seed, database, calm, history }: MachineOptions) {
    this.seed = seed;
    this.random = new Random(seed);
    this.faults = new Faults(this.random, calm);
    this.places = new Places(this.random);
    this.#areNeighboursVisible = this.random.split("visibility").chance(0.7);
    this.areVisible = this.#areNeighboursVisible && !this.places.areSeveral;
    this.settings = settingsOf(this.random.split("settings"), this.places.areSeveral);
    this.history = history;
    this.#database = database;
    history.clock = () => this.timeline.now;
    this.work.clock = () => this.timeline.now;
    database.now = () => EPOCH + Math.floor(this.timeline.now);
    database.onTakeover = (taskId, owner, by) => {
      if (this.instances.get(owner) !== by && database.isRegistered(owner))
        this.broken.push(`${by.name} took ${taskId} over from ${owner}, which is registered`);
    };
    this.runs = new RunWatch(this, database);
    database.onBegin = (taskId) => this.begins.add(taskId, this.timeline.now);
    database.onEnd = (taskId, run, by) => {
      const working = new Set(this.hosts.flatMap(({ program }) => program.prompts));
      const waiting = new Set(this.hosts.flatMap(({ program }) => program.waiting));
      this.ends.add(taskId, run, { at: this.timeline.now, by, living: new Set(this.living), working, waiting });
    };
  }

  get living(): SimulatedProcess[] {
    return [...this.#processes.values()].filter(({ isAlive }) => isAlive);
  }

  /** Every program of a living process. */
  get hosts(): SimulatedHost[] {
    return [...this.#hosts].filter(({ program }) => program.isAlive);
  }

  /** A program that a process runs in one of its own, and that ends with it. */
  startProgram(parent: SimulatedProcess): SimulatedProcess {
    const child = this.start("program", parent.place);
    parent.onEnd(() => child.die());
    this.#programs.set(parent.name, [...(this.#programs.get(parent.name) ?? []), child.name]);
    return child;
  }

  /** Whether a process died in that time, or a program of it, or it ended what it had because it was asked to end. */
  wasLost({ name }: SimulatedProcess, from: number, until: number): boolean {
    const ended = this.drained.get(name);
    if (ended !== undefined && ended <= until) return true;
    return [name, ...(this.#programs.get(name) ?? [])].some((each) => {
      const at = this.deaths.get(each);
      return at !== undefined && at >= from && at <= until;
    });
  }

  /** On the machine of its role, unless another one is named. */
  start(role: string, place = this.places.ofRole(role)): SimulatedProcess {
    const pid = 100 + this.#processes.size;
    const process = new SimulatedProcess({ role, pid, place }, this.timeline, this.places.wall(place));
    this.#processes.set(pid, process);
    if (this.faults.isHealed) this.#bornInPeace.add(process);
    const missing = this.#missing.get(role);
    // Nobody starts it again before the storm is over: until then it is as dead as one that was killed.
    if (missing !== undefined) this.troubles.add(missing, this.timeline.now - missing);
    this.#missing.delete(role);
    this.#absences.get(role)?.(this.timeline.now);
    process.onEnd(() => {
      this.deaths.set(process.name, this.timeline.now);
    });
    this.struck(process.name, "starts");
    return process;
  }

  /** That role has no process for so long, unless somebody starts it earlier. */
  lacks(role: string, ms: number): void {
    this.#absences.set(role, this.troubles.add(this.timeline.now, ms));
  }

  /** From now on it interrupts what it still runs, as if it had died. */
  ended(process: SimulatedProcess): void {
    this.drained.set(process.name, this.timeline.now);
  }

  /**
   * Whether a process that was asked to end could know what had happened in a session by then. It reads for a while;
   * then it writes that the run was interrupted, however long that takes.
   */
  couldKnow(name: string, sessionId: string, endedAt: number): boolean {
    const from = this.drained.get(name);
    return from !== undefined && this.work.wasRead(sessionId, endedAt, from + LAST_LOOK_MS);
  }

  /** Writes down what strikes a process or the whole machine. */
  struck(name: string, what: Incident["what"], ms = 0): void {
    this.incidents.push({ at: this.timeline.now, role: name.split("#")[0] ?? name, what, ms });
    this.history.add(name, ms === 0 ? what : `${what} for ${ms} ms`);
  }

  /** The store of a process, through its own driver. */
  store(process: SimulatedProcess): Store {
    const cutUntil = () => this.places.cutUntil(process.place);
    const store = kyselyStore(this.#database.driver(process, this.random, this.faults, cutUntil));
    const tell = (text: string | (() => string)) => this.history.add(process.name, text);
    const told = toldStore(store, tell, (what) => process.reaches(what));
    return {
      ...told,
      queue: this.#watchedQueue(process, told.queue),
      calls: this.#sharedCalls(told.calls),
      addInstance: (instance, leaseMs) => {
        this.instances.set(instance.id, process);
        this.#registeredAt.set(instance.id, this.timeline.now);
        return told.addInstance(instance, leaseMs);
      },
      endInstance: (id) => {
        const owner = this.instances.get(id);
        if (this.places.areSeveral && owner !== process && owner?.isAlive)
          this.broken.push(`${process.name} ended ${id}, whose process lives, and did not look at its lease`);
        return told.endInstance(id);
      },
      expireInstance: async (id) => {
        const from = this.timeline.now;
        const isEnded = await told.expireInstance(id);
        const owner = this.instances.get(id);
        // It has registered again since: it was ended before that, and whoever did so stood still until now.
        const isBack = (this.#registeredAt.get(id) ?? 0) > from;
        if (isEnded && !isBack && owner !== process && owner?.isAlive) this.#leaseRanOut(process, id, owner);
        return isEnded;
      },
    };
  }

  /** A lease of somebody who lives runs out only if something kept it from being renewed: not because nobody could. */
  #leaseRanOut(by: SimulatedProcess, id: string, owner: SimulatedProcess): void {
    this.faults.count("lease runs out");
    const until = Math.max(...[owner.name, owner.place].map((name) => this.#hinderedUntil.get(name) ?? 0));
    const isHindered = until + LEASE_MS > this.timeline.now || HOLDS_UP.some((kind) => this.faults.has(kind));
    if (!isHindered) this.broken.push(`${by.name} ended ${id}, whose process lives and was kept from nothing`);
  }

  /** A process or a machine, by its name: it alone cannot renew its leases until then. */
  hinder(name: string, until: number): void {
    this.#hinderedUntil.set(name, Math.max(this.#hinderedUntil.get(name) ?? 0, until));
  }

  /** A database that several machines use has a clock of its own. The one below is of the kind that has none. */
  #sharedTime(own: number): number {
    return this.places.areSeveral ? EPOCH + Math.floor(this.timeline.now) : own;
  }

  #sharedCalls(calls: Store["calls"]): Store["calls"] {
    return {
      ...calls,
      ask: (call, { now, patience }) => calls.ask(call, { now: this.#sharedTime(now), patience }),
      waitingFor: (instances, now) => calls.waitingFor(instances, this.#sharedTime(now)),
      claim: (id, now) => calls.claim(id, this.#sharedTime(now)),
    };
  }

  /** Nobody is told that it has a claim which somebody else had before it asked. */
  #watchedQueue(process: SimulatedProcess, queue: RunQueue): RunQueue {
    const isLost = ({ taskId, fence }: RunClaim) =>
      this.#database.queuedRuns().some((row) => row.task_id === taskId && row.fence > fence);
    const assertLost = (what: string, claims: readonly RunClaim[]) => {
      for (const { taskId, fence } of claims)
        this.broken.push(`${process.name} ${what} claim ${fence} of ${taskId}, which another one had`);
    };
    return {
      ...queue,
      claim: async (request) => {
        const claimed = await queue.claim({ ...request, at: this.#sharedTime(request.at) });
        for (const { taskId } of claimed) this.claimers.set(taskId, process);
        return claimed;
      },
      begin: (claim, event) => {
        const begun = queue.begin(claim, event);
        begun.catch(() => event.type === "task.claimed" && this.unheard.add(event.messageId));
        return begun;
      },
      extend: async (claims, lease) => {
        const before = claims.filter(isLost);
        const lost = await queue.extend(claims, { ...lease, at: this.#sharedTime(lease.at) });
        assertLost(
          "extended",
          before.filter((claim) => !lost.includes(claim)),
        );
        return lost;
      },
      release: async (claim) => {
        const before = [claim].filter(isLost);
        const isReleased = await queue.release(claim);
        if (isReleased) assertLost("gave back", before);
        return isReleased;
      },
    };
  }

  /** A host for that process, with a program of its own or in the same process. */
  host(input: Pick<HostContext, "kind" | "process" | "startProgram">): SimulatedHost {
    const { random, faults, troubles, work, history } = this;
    const { kind, process } = input;
    const sessions = this.places.sessions(process.place, kind);
    const sends = (what: "prompt" | "notice", messageId: string) => {
      this.#assertOwned(process, kind, what, messageId);
      if (what === "prompt") this.runs.prompts(process, messageId);
    };
    const host = simulatedHost({ ...input, sessions, sends, random, faults, troubles, work, history });
    this.#hosts.add(host);
    return host;
  }

  /** Whether the session of a task exists: its host knows no others than its own. */
  hasSession({ host, sessionId }: { host: string; sessionId: string }): boolean {
    return this.places.has(host, sessionId);
  }

  /** Nobody sends anything after its lease is over by the database's clock, nor a prompt of a run that others have. */
  #assertOwned(process: SimulatedProcess, host: string, what: "prompt" | "notice", messageId: string): void {
    if (!this.places.areSeveral) return;
    const own = [...this.instances].filter(([, owner]) => owner === process).map(([id]) => id);
    if (!own.some((id) => this.#database.hasLease(id, host)))
      this.broken.push(`${process.name} sent the ${what} ${messageId} without a lease`);
    else if (what === "prompt" && !own.includes(this.#database.liveRunOf(messageId)?.owner ?? ""))
      this.broken.push(`${process.name} sent the prompt ${messageId} of a run that is not its own`);
  }

  newId(prefix: string): string {
    return `${prefix}_${String(++this.#ids).padStart(6, "0")}`;
  }

  /** A UUID that sorts in order of creation. */
  newUuid(): string {
    return `00000000-0000-4000-8000-${String(++this.#ids).padStart(12, "0")}`;
  }

  /** How a process judges whether an instance is alive. */
  judge(process: SimulatedProcess): (instance: LeasedProcess) => boolean {
    if (this.areVisible) return ({ pid }) => this.#processes.get(pid)?.isAlive ?? false;
    const judge = instanceJudge({ machine: process.place, read: process.monotonic });
    return (instance) => {
      if (instance.pid === process.pid) return true;
      const isSeen = this.#areNeighboursVisible && instance.machine === process.place;
      return isSeen ? (this.#processes.get(instance.pid)?.isAlive ?? false) : judge(instance);
    };
  }

  identity(process: SimulatedProcess): Pick<BeatingProcess, "pid" | "processStart" | "bootId" | "pidNamespace"> {
    return { pid: process.pid, processStart: String(process.pid), bootId: BOOT, pidNamespace: process.name };
  }

  log(process: SimulatedProcess): Log {
    const write = (message: string, details: Record<string, unknown> = {}) =>
      this.history.add(process.name, () => `logs: ${message} ${JSON.stringify(details)}`);
    return { info: write, error: write };
  }

  /** How many listeners of that process wait for changes of the store. */
  storeListeners(process: SimulatedProcess): number {
    return this.#database.listenersOf(process);
  }

  /** What the code of a process is given, whatever its role: its store, clock, ids, log and view of the others. */
  surroundings(process: SimulatedProcess) {
    const { now, monotonic, after } = process;
    return {
      store: this.store(process),
      log: this.log(process),
      isAlive: this.judge(process),
      identity: this.identity(process),
      machine: process.place,
      newId: (prefix: string) => this.newId(prefix),
      now,
      monotonic,
      after,
    };
  }

  fillDisk(until: number): void {
    this.#database.fullUntil = Math.max(this.#database.fullUntil, until);
  }

  /** Nothing goes wrong any more. */
  heal(): void {
    this.faults.heal();
    this.troubles.heal(this.timeline.now);
    this.#database.fullUntil = 0;
    this.places.heal();
    this.#database.tellMissed();
  }

  /** Errors that are no answers: code that broke. */
  readonly broken: string[] = [];

  /** An error that the code made on purpose has a code of its own; any other is a fault of it. */
  judgeError(what: string, thrown: unknown): void {
    if (AsyncAgentsError.isInstance(thrown) && thrown.code !== "internal") return;
    this.broken.push(`${what} broke: ${messageOf(thrown)}`);
  }

  /** Where nothing goes wrong any more, everything starts. */
  startFailed(process: SimulatedProcess, thrown: unknown): void {
    this.history.add(process.name, () => `does not start: ${messageOf(thrown)}`);
    this.#missing.set(process.name.slice(0, process.name.indexOf("#")), this.timeline.now);
    this.judgeError(`the start of ${process.name}`, thrown);
    // One that began before may still have waited for a lock.
    if (this.#bornInPeace.has(process))
      this.broken.push(`${process.name} did not start in peace: ${messageOf(thrown)}`);
  }

  /** Something that nobody waits for; its failure is only written down. */
  forget(who: string, what: string, work: Promise<unknown>): void {
    work.then(
      () => this.history.add(who, `${what}: done`),
      (thrown: unknown) => {
        this.judgeError(what, thrown);
        this.history.add(who, () => `${what}: refused: ${messageOf(thrown)}`);
      },
    );
  }
}
