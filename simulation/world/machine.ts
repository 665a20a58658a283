/**
 * The machine that everything runs on: one timeline, one disk with a database and sessions, and the processes of one
 * seed. Knows who is alive; does not know what anybody does.
 */

import { ScriptedSessions } from "../../src/hosts/scripted/sessions.ts";
import { AsyncAgentsError, messageOf } from "../../src/model/errors.ts";
import { type BeatingProcess, instanceJudge, type LeasedProcess, ownIdentity } from "../../src/process/liveness.ts";
import type { Log } from "../../src/process/log.ts";
import { kyselyStore } from "../../src/store/kysely-store.ts";
import type { Store } from "../../src/store/store.ts";
import type { HostContext } from "../agents/simulated-host.ts";
import { type SimulatedHost, simulatedHost } from "../agents/simulated-host.ts";
import { WorkLog } from "../agents/work-log.ts";
import { Random } from "../time/random.ts";
import { Timeline } from "../time/timeline.ts";
import { BeginTimes } from "./begin-times.ts";
import { EndTimes } from "./end-times.ts";
import { Faults } from "./faults.ts";
import type { History } from "./history.ts";
import { type SimulatedSettings, settingsOf } from "./settings.ts";
import type { SharedDatabase } from "./shared-database.ts";
import { SimulatedProcess } from "./simulated-process.ts";
import { toldStore } from "./told-store.ts";
import { Troubles } from "./troubles.ts";

/** All processes are on this machine; each is in a container of its own, if they do not see each other. */
const BOOT = ownIdentity().bootId;

const OTHER_IDS = 50_000_000;

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
    | "disk is full";
  /** How long it lasts; 0 for what does not. */
  ms: number;
}

export class Machine {
  readonly seed: number;
  readonly timeline = new Timeline();
  /** Those of OpenCode. */
  readonly sessions = new ScriptedSessions();
  /** Those of the other host, which knows no others. */
  readonly #otherSessions = new ScriptedSessions(OTHER_IDS);
  readonly work = new WorkLog();
  readonly begins = new BeginTimes();
  readonly ends = new EndTimes();
  readonly troubles = new Troubles();
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
  readonly #wall = { skew: 0 };
  readonly #bornInPeace = new WeakSet<SimulatedProcess>();
  /** When each process died, by its name, for whatever reason. */
  readonly deaths = new Map<string, number>();
  #ids = 0;
  /** Whether processes see each other; if not, only heartbeats tell who is alive. */
  readonly areVisible: boolean;
  readonly settings: SimulatedSettings;

  constructor({ seed, database, calm, history }: MachineOptions) {
    this.seed = seed;
    this.random = new Random(seed);
    this.faults = new Faults(this.random, calm);
    this.areVisible = this.random.split("visibility").chance(0.7);
    this.settings = settingsOf(this.random.split("settings"));
    this.history = history;
    this.#database = database;
    history.clock = () => this.timeline.now;
    this.work.clock = () => this.timeline.now;
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

  start(role: string): SimulatedProcess {
    const pid = 100 + this.#processes.size;
    const process = new SimulatedProcess(`${role}#${pid}`, pid, this.timeline, this.#wall);
    this.#processes.set(pid, process);
    if (this.faults.isHealed) this.#bornInPeace.add(process);
    process.onEnd(() => {
      this.deaths.set(process.name, this.timeline.now);
    });
    this.struck(process.name, "starts");
    return process;
  }

  /** Writes down what strikes a process or the whole machine. */
  struck(name: string, what: Incident["what"], ms = 0): void {
    this.incidents.push({ at: this.timeline.now, role: name.split("#")[0] ?? name, what, ms });
    this.history.add(name, ms === 0 ? what : `${what} for ${ms} ms`);
  }

  /** The store of a process, through its own driver. */
  store(process: SimulatedProcess): Store {
    const store = kyselyStore(this.#database.driver(process, this.random, this.faults));
    const tell = (text: string | (() => string)) => this.history.add(process.name, text);
    const told = toldStore(store, tell, (what) => process.reaches(what));
    return {
      ...told,
      addInstance: (instance, leaseMs) => {
        this.instances.set(instance.id, process);
        return told.addInstance(instance, leaseMs);
      },
    };
  }

  /** A host for that process, with a program of its own or in the same process. */
  host(input: Pick<HostContext, "kind" | "process" | "startProgram">): SimulatedHost {
    const { random, faults, troubles, work, history } = this;
    const sessions = this.#sessionsOf(input.kind);
    const host = simulatedHost({ ...input, sessions, random, faults, troubles, work, history });
    this.#hosts.add(host);
    return host;
  }

  /** Whether the session of a task exists: its host knows no others than its own. */
  hasSession({ host, sessionId }: { host: string; sessionId: string }): boolean {
    return this.#sessionsOf(host).has(sessionId);
  }

  #sessionsOf(host: string): ScriptedSessions {
    return host === "opencode" ? this.sessions : this.#otherSessions;
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
    const byHeartbeat = instanceJudge({ read: process.monotonic });
    return (instance) => instance.pid === process.pid || byHeartbeat(instance);
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
      newId: (prefix: string) => this.newId(prefix),
      now,
      monotonic,
      after,
    };
  }

  setWallClock(skew: number): void {
    this.#wall.skew = skew;
  }

  fillDisk(isFull: boolean): void {
    this.#database.isFull = isFull;
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
