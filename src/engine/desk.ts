/**
 * What people can do to any task, using the engines of one process: launch, cancel, resume, read the conversation.
 * Finds the engine of this process, or the instance of another, that can do it; who calls the desk asks that instance.
 * Contains no rules of its own.
 */
import { statSync } from "node:fs";
import { isAbsolute } from "node:path";
import type { AgentInfo } from "../hosts/host.ts";
import type { SessionProgram } from "../hosts/host-maker.ts";
import type { Door } from "../model/answer.ts";
import { type Budget, budgetId, type NewBudgets, subjectOf } from "../model/budgets/budget.ts";
import { AsyncAgentsError } from "../model/errors.ts";
import { folderProblem } from "../model/folder-problem.ts";
import { limitsOf, type RunLimits } from "../model/limits.ts";
import { isClient } from "../model/notifications/follower.ts";
import type { SteeringMessage } from "../model/steering.ts";
import { awaitsRunner, isLive, type Task } from "../model/task.ts";
import { type Clock, systemClock } from "../process/clock.ts";
import type { WaitOptions } from "../process/deadline.ts";
import { isVisible } from "../process/liveness.ts";
import { isSameMachine } from "../process/machine.ts";
import { makeId } from "../process/make-id.ts";
import type { BudgetChange, BudgetQuery } from "../store/budgets/records.ts";
import type { Instance, Store } from "../store/store.ts";
import { overAlready } from "./answers.ts";
import { assertCancellable } from "./cancel.ts";
import type { Engine } from "./engine.ts";
import { assertBegan, type LaunchRequest, PERSON } from "./launch.ts";
import { editTask, type TaskEdit } from "./queue/after.ts";
import { cancelQueued } from "./queue/cancel-queued.ts";
import { enqueueTask, type QueueRequest } from "./queue/enqueue.ts";
import { type FleetRunner, type QueuePlace, readFleet, readQueuePlaces } from "./queue/fleet.ts";
import type { CallerRights } from "./queue/owner-only.ts";
import { removeTask } from "./retention.ts";
import { acceptSteering, cancelSteering, untilSettled } from "./steering.ts";

export interface DeskContext {
  store: Store;
  /** The engines of this process. */
  engines(): readonly Engine[];
  isAlive(instance: Instance): boolean;
  /** The machine of this process, where others use the same store; only this one when absent. */
  machine?: string;
  /** This machine's clock when absent. */
  now?(): number;
  newId?(prefix: string): string;
  after?: Clock["after"];
  /** The budgets of queued tasks that bring none; none when absent. */
  budgets?: NewBudgets;
  /** What the runs of queued tasks may use, if an agent asks for more; whatever it asks for when absent. */
  limits?: RunLimits;
  /** How many tasks may wait for runners when a caller's launches are limited; no limit when absent. */
  maxQueued?: number;
  /** For a process that starts hosts itself: what opens a session in its host's own program; null if nothing does. */
  attach?(session: Pick<Task, "host" | "directory" | "sessionId">): Promise<SessionProgram | null>;
  /** For a process that starts hosts itself: the engine for that host and directory, started if necessary. */
  open?(host: string, directory: string): Promise<Engine>;
}

/**
 * Whether a host may be opened for a call. Opening one runs what the configuration of its folder names, which is more
 * than reading, cancelling or telling: only for those who may let agents work anywhere.
 */
export interface Opening {
  mayOpen: boolean;
}

/** Who can do something: an engine of this process, or an instance of another process. */
export type EngineOrInstance = { engine: Engine } | { instance: Instance };

/** The `host` of the daemon's own instance, which has no agents: it takes calls for the board. */
export const DAEMON_HOST = "daemon";
/** The host of a runner's own instance, likewise. */
export const RUNNER_HOST = "runner";

/** The host for launches that name none. */
const DEFAULT_HOST = "opencode";
const BY_PERSON = "cancelled by a person";
const BY_PERSON_AGAIN = "a person asked to tell it again";

export class Desk {
  readonly #context: DeskContext;

  constructor(context: DeskContext) {
    this.#context = context;
  }

  /** Where this process can launch tasks, with the agents available there. */
  instances(): Promise<{ instance: Instance; agents: AgentInfo[] }[]> {
    return Promise.all(
      this.#context.engines().map(async (engine) => ({ instance: engine.instance, agents: await engine.agents() })),
    );
  }

  async launch(engine: Engine, request: Omit<LaunchRequest, "fork">): Promise<Task> {
    const launch = { ...request, fork: false };
    return engine.launch(PERSON, launch, await engine.checkLaunch(PERSON, launch));
  }

  /** Whether this process starts hosts for directories itself. */
  get opensHosts(): boolean {
    return this.#context.open !== undefined;
  }

  /** Whether other machines may use the same store. */
  get hasOtherMachines(): boolean {
    return (this.#context.machine ?? "") !== "";
  }

  /** The runners of all machines. */
  runners(): Promise<FleetRunner[]> {
    return readFleet(this.#fleet);
  }

  /** The places in the queue of those that wait for a runner, by the ids of the tasks. */
  queuePlaces(tasks: readonly Task[]): Promise<Map<string, QueuePlace>> {
    return readQueuePlaces(this.#fleet, tasks);
  }

  get #fleet() {
    const { store, isAlive } = this.#context;
    return { store, isAlive };
  }

  /** Queues a task for any runner. With `isLimited`, only while few others wait. */
  enqueue(request: Omit<QueueRequest, "mostWaiting">, { isLimited }: { isLimited: boolean }): Promise<Task> {
    const { store, now = systemClock.now, newId = makeId, machine = "", maxQueued, budgets } = this.#context;
    const room = isLimited && maxQueued !== undefined ? { mostWaiting: maxQueued } : {};
    const limits = limitsOf(request, this.#context.limits ?? {});
    const queued = { ...request, limits, ...room, ...(budgets && { budgets }) };
    return enqueueTask({ store, now, newId, machine }, PERSON, queued);
  }

  budgets(query: BudgetQuery & { id?: string | undefined }): Promise<Budget[]> {
    const { budgets } = this.#context.store;
    if (query.id === undefined) return budgets.list(query);
    return budgets.get(query.id).then((found) => (found === null ? [] : [found]));
  }

  /** Sets the limits of a budget. A session that is a task has that task's budget. */
  async setBudget(id: string, change: Omit<BudgetChange, "at">): Promise<Budget> {
    const { store, now = systemClock.now } = this.#context;
    const subject = subjectOf(id);
    const task = subject?.kind === "session" ? await store.task(subject.subject) : null;
    return store.budgets.set(task === null ? id : budgetId("task", task.id), { ...change, at: now() });
  }

  /** Changes a task that waits to start, in whatever process it will. */
  edit(task: Task, edit: TaskEdit, rights: CallerRights): Promise<Task> {
    const { store, now = systemClock.now } = this.#context;
    return editTask({ store, now }, task, edit, rights);
  }

  /** Starts a new task that knows everything a task's session knows. The first task does not change. */
  async fork(engine: Engine, task: Task, request: Omit<LaunchRequest, "fork" | "forkOf" | "batch">): Promise<Task> {
    if (isLive(task.status)) {
      throw new AsyncAgentsError(
        "task_running",
        `Task ${task.id} is still running. Wait until it has ended, then fork it.`,
      );
    }
    assertBegan(task);
    const launch = { ...request, fork: true, forkOf: task.sessionId, batch: null };
    return engine.launch(PERSON, launch, await engine.checkLaunch(PERSON, launch));
  }

  /**
   * Any engine can do it: the request for a task of another process goes through the store. Without one the request
   * stands, until a process that drives the task, or takes it over, acts on it.
   */
  async cancel(given: Task, { mayOpen }: Opening): Promise<Task> {
    const { store, now = systemClock.now } = this.#context;
    const cancelled = awaitsRunner(given) ? await cancelQueued({ store, now }, given, BY_PERSON) : null;
    if (cancelled) return cancelled;
    const task = awaitsRunner(given) ? ((await store.task(given.id)) ?? given) : given;
    // That run has ended meanwhile; the next one goes on.
    if (task.run.number !== given.run.number) return task;
    const engines = this.#context.engines();
    const [any] = engines;
    const engine =
      engines.find(({ instance }) => instance.id === task.owner) ??
      sameDirectory(engines, task) ??
      (any && (await this.#driver(task)) ? any : mayOpen && (await this.#opened(task)));
    if (!engine && !mayOpen) return this.#requestCancel(task);
    if (!engine) throw unavailable(task.directory);
    return (await engine.cancelTask(task, BY_PERSON)).task;
  }

  async #requestCancel(task: Task): Promise<Task> {
    const { store, now = systemClock.now } = this.#context;
    assertCancellable(task);
    return (await store.apply(task.id, { type: "cancel.requested", at: now(), run: task.run.number })).task ?? task;
  }

  /** What opens the task's session in the host's own program, on the machine and in the container that it is in. */
  async attach(task: Task): Promise<SessionProgram> {
    const { id, host, machine } = task;
    if (task.sessionId === "") {
      const message = isLive(task.status) ? "it waits for a runner, which will make one" : "it ended before it began";
      throw new AsyncAgentsError("session_missing", `Task ${id} has no session: ${message}.`);
    }
    if (!this.#isHere(machine)) {
      const message = `The session of task ${id} is on another machine (${machine}). Run there: asyncagents attach ${id}`;
      throw new AsyncAgentsError("host_unavailable", message, { details: { machine } });
    }
    if (await this.#containedOwner(task)) {
      const message = `The session of task ${id} is in a container. Run there: asyncagents attach ${id}`;
      throw new AsyncAgentsError("host_unavailable", message);
    }
    const found = await this.#context.attach?.(task);
    if (found) return found;
    const message = `${host} has no program of its own to open a session in. Read it with: asyncagents logs ${id}`;
    throw new AsyncAgentsError("host_unsupported", message);
  }

  /** Any process can do it: an ended task is only in the store. */
  remove(task: Task): Promise<Readonly<Record<string, number>>> {
    return removeTask(this.#context.store, task);
  }

  /** Sends a message into a run at work, in whatever process; waits for its receipt, if wanted. */
  async steer(
    task: Task,
    said: { text: string; by: string },
    { isOwner, ...wait }: WaitOptions & CallerRights,
  ): Promise<SteeringMessage> {
    const { store, now = systemClock.now, newId = makeId, after = systemClock.after } = this.#context;
    const { id } = await acceptSteering({ store, now, newId }, task, said, { isOwner });
    return untilSettled({ store, after }, id, wait);
  }

  /** The messages that were sent into a task's runs, oldest first. */
  steering({ id }: Task): Promise<SteeringMessage[]> {
    return this.#context.store.steering(id);
  }

  cancelSteering(id: string, by: string, rights: CallerRights): Promise<SteeringMessage> {
    const { store, now = systemClock.now } = this.#context;
    return cancelSteering({ store, now }, id, by, rights);
  }

  /** An engine of this process for that host and directory. Throws `host_unavailable` if there can be none. */
  async engine(host: string, directory: string): Promise<Engine> {
    const engine =
      sameDirectory(this.#context.engines(), { host, directory }) ?? (await this.#opened({ host, directory }));
    if (engine) return engine;
    throw unavailable(directory);
  }

  /** A launch needs a directory, unless this process has only one. If it names a host, it runs in this process. */
  async placeOfLaunch(directory: string | null, host: string | null = null): Promise<EngineOrInstance> {
    if (host !== null && directory !== null) return { engine: await this.#engineToLaunch(host, directory) };
    const engines = this.#context.engines();
    const [only, ...others] = engines;
    if (directory === null && only && others.length === 0) return { engine: only };
    const served = engines.map(({ instance }) => instance.directory);
    if (directory === null) {
      const which = served.length === 0 ? "none is open yet" : `one of ${served.join(", ")}`;
      throw new AsyncAgentsError("invalid_input", `directory is missing: ${which}.`, {
        details: { parameter: "directory" },
      });
    }
    const engine = engines.find(({ instance }) => instance.directory === directory);
    if (engine) return { engine };
    const instance = (await this.#near()).find((each) => each.directory === directory);
    if (instance) return { instance };
    return { engine: await this.#engineToLaunch(DEFAULT_HOST, directory) };
  }

  /** A person was shown what the task waits for. Written once for each door; nothing if it waits for something else. */
  async see(task: Task, requestId: string, by: Door): Promise<Task> {
    const { store, now = systemClock.now } = this.#context;
    const { phaseDetail: detail } = task;
    // Usually it is known: no write lock is needed to learn that.
    if (detail?.kind !== "waiting" || detail.requestId !== requestId || detail.seen?.includes(by)) return task;
    const event = { type: "request.seen", at: now(), run: task.run.number, requestId, by } as const;
    return (await store.apply(task.id, event)).task ?? task;
  }

  /** A person has read how the task ended. */
  async markRead(task: Task): Promise<Task> {
    const { store, now = systemClock.now } = this.#context;
    if (isLive(task.status)) {
      throw new AsyncAgentsError("task_running", `Task ${task.id} has not ended yet, so there is no end to read.`);
    }
    if (task.resultRetrievedAt !== null) return task;
    return (await store.apply(task.id, { type: "result.retrieved", at: now() })).task ?? task;
  }

  /** Only the instance that drives a task can give it an answer. */
  async placeOfAnswer(task: Task, requestId?: string): Promise<EngineOrInstance> {
    const engine = this.#context.engines().find(({ instance }) => instance.id === task.owner);
    if (engine) return { engine };
    const instance = await this.#driver(task);
    if (instance) return { instance };
    throw overAlready(task, requestId, null);
  }

  /** What a program that launched the task has not read is due again: it asks for it. False if no program has to. */
  async tellClient(task: Task): Promise<boolean> {
    const { store } = this.#context;
    const notice = await store.lastNotice(task.id);
    if (notice === null || !isClient(notice.parentSessionId) || notice.state === "delivered") return false;
    if (notice.messageId !== null) await store.followers.release(notice.messageId, BY_PERSON_AGAIN);
    await store.reopenNotices(task.id);
    return true;
  }

  /** A parent is notified by the instance that handles it. If that one is gone, by any near one with the same host. */
  async placeOfTelling(task: Task, { mayOpen }: Opening): Promise<EngineOrInstance> {
    const parent = await this.#context.store.parent(task.parentSessionId);
    const host = parent?.host ?? task.host;
    const engines = this.#context.engines();
    const own = engines.find(({ instance }) => instance.id === parent?.handler);
    if (own) return { engine: own };
    const others = (await this.#others()).filter((each) => each.host === host);
    const handler = others.find(({ id }) => id === parent?.handler);
    if (handler) return { instance: handler };
    if (parent && !this.#isHere(parent.machine)) return { instance: await this.#onMachine(parent.machine, { host }) };
    const same = engines.find(({ instance }) => instance.host === host);
    if (same) return { engine: same };
    const near = others.find((each) => this.#isNear(each));
    if (near) return { instance: near };
    if (!mayOpen) throw notOpened(task);
    return { engine: await this.engine(host, task.directory) };
  }

  /** A resume runs in the task's own directory, on the machine and in the container that it was in. */
  async placeOfResume(task: Task): Promise<EngineOrInstance> {
    if (!isLive(task.status)) assertBegan(task);
    if (!this.#isHere(task.machine)) return { instance: await this.#onMachine(task.machine, task) };
    const contained = await this.#containedOwner(task);
    if (contained) return { instance: contained };
    const engine = sameDirectory(this.#context.engines(), task);
    if (engine) return { engine };
    const instance = (await this.#near()).find((each) => each.directory === task.directory && each.host === task.host);
    if (instance) return { instance };
    return { engine: await this.engine(task.host, task.directory) };
  }

  /** Who can show a task's conversation, best first: the instance that drives it, then near ones with the same host. */
  async placesOfMessages(task: Task, { mayOpen }: Opening): Promise<EngineOrInstance[]> {
    const engines = this.#context.engines().filter(({ instance }) => instance.host === task.host);
    const own =
      engines.find(({ instance }) => instance.id === task.owner) ?? sameDirectory(engines, task) ?? engines[0];
    const first = (await this.#driver(task)) ?? (await this.#containedOwner(task));
    if (!this.#isHere(task.machine)) return [{ instance: first ?? (await this.#onMachine(task.machine, task)) }];
    const others = (await this.#near()).filter(({ host }) => host === task.host);
    const other = others.find(({ directory }) => directory === task.directory) ?? others[0];
    const places: EngineOrInstance[] = [];
    if (first) places.push({ instance: first });
    if (own) places.push({ engine: own });
    if (other && other.pid !== first?.pid) places.push({ instance: other });
    if (places.length > 0) return places;
    if (!mayOpen) throw notOpened(task);
    return [{ engine: await this.engine(task.host, task.directory) }];
  }

  /** A path that is not a folder is the caller's mistake; no host is started for it. */
  async #engineToLaunch(host: string, directory: string): Promise<Engine> {
    const open = sameDirectory(this.#context.engines(), { host, directory });
    if (open) return open;
    const problem = isAbsolute(directory) ? folderProblem(directory, statSync) : "is not an absolute path";
    if (problem === null) return this.engine(host, directory);
    const message = `directory: ${JSON.stringify(directory.slice(0, 300))} ${problem}. Give the absolute path of a folder.`;
    throw new AsyncAgentsError("invalid_input", message, { details: { parameter: "directory" } });
  }

  async #opened({ host, directory }: Pick<Task, "host" | "directory">): Promise<Engine | undefined> {
    return this.#context.open?.(host, directory);
  }

  /** The other living instance that drives the task. */
  async #driver(task: Task): Promise<Instance | null> {
    if (!isLive(task.status) || task.owner === null) return null;
    return (await this.#others()).find(({ id }) => id === task.owner) ?? null;
  }

  /** The instance that drove the task last, if it lives in a container, where our folders are not. */
  async #containedOwner(task: Task): Promise<Instance | null> {
    return (await this.#others()).find((each) => each.id === task.owner && !isVisible(each)) ?? null;
  }

  /** An instance of that machine: one of the host, preferably in the directory, or else the daemon, which opens it. */
  async #onMachine(machine: string, { host, directory }: { host: string; directory?: string }): Promise<Instance> {
    const there = (await this.#living()).filter((each) => each.machine === machine);
    const ofHost = there.filter((each) => each.host === host);
    const starter = [DAEMON_HOST, RUNNER_HOST].flatMap((kind) => there.find((each) => each.host === kind) ?? []);
    const found = ofHost.find((each) => each.directory === directory) ?? starter[0] ?? ofHost[0];
    if (found) return found;
    const message = `This is on another machine (${machine}), where no program runs now. Start it there (asyncagents up), then try again.`;
    throw new AsyncAgentsError("host_unavailable", message, { details: { machine } });
  }

  #isHere(machine: string): boolean {
    return isSameMachine(machine, this.#context.machine ?? "");
  }

  #isOwn(instanceId: string): boolean {
    return this.#context.engines().some(({ instance }) => instance.id === instanceId);
  }

  /** Whether its directories are the same as ours: not in another container, not on another machine. */
  #isNear(instance: Instance): boolean {
    return isVisible(instance) && this.#isHere(instance.machine);
  }

  async #near(): Promise<Instance[]> {
    return (await this.#others()).filter((each) => this.#isNear(each));
  }

  /** The living instances of other processes that have agents. */
  async #others(): Promise<Instance[]> {
    return (await this.#living()).filter(
      ({ host, id }) => host !== DAEMON_HOST && host !== RUNNER_HOST && !this.#isOwn(id),
    );
  }

  async #living(): Promise<Instance[]> {
    return (await this.#context.store.instances()).filter((each) => this.#context.isAlive(each));
  }
}

function sameDirectory(engines: readonly Engine[], wanted: Pick<Task, "host" | "directory">): Engine | undefined {
  return engines.find(({ instance }) => instance.directory === wanted.directory && instance.host === wanted.host);
}

function notOpened({ id, host }: Task): AsyncAgentsError {
  const message = `Nobody has ${host} open for task ${id}, and only for the owner of the server is it opened now. The owner can read it there with: asyncagents logs ${id}`;
  return new AsyncAgentsError("host_unavailable", message);
}

function unavailable(directory: string): AsyncAgentsError {
  const message = `No running program can do this for ${directory || "this task"}. Open the agent there (for example: opencode), then try again.`;
  return new AsyncAgentsError("host_unavailable", message, { details: { directory } });
}
