/**
 * What people can do to any task, using the engines of one process: launch, cancel, resume, read the conversation.
 * Finds the engine, or the other process, that can do it; the door decides how to ask that process. Contains no rules
 * of its own.
 */
import { statSync } from "node:fs";
import { isAbsolute } from "node:path";
import type { AgentInfo } from "../hosts/host.ts";
import { AsyncAgentsError } from "../model/errors.ts";
import { folderProblem } from "../model/folder-problem.ts";
import { isLive, type Task } from "../model/task.ts";
import { isVisible } from "../process/liveness.ts";
import { isSameMachine } from "../process/machine.ts";
import type { Instance, Store } from "../store/store.ts";
import { overAlready } from "./answers.ts";
import type { Engine } from "./engine.ts";
import { type LaunchRequest, PERSON } from "./launch.ts";

export interface DeskContext {
  store: Store;
  /** The engines of this process. */
  engines(): readonly Engine[];
  isAlive(instance: Instance): boolean;
  /** The machine of this process, where others use the same store; only this one when absent. */
  machine?: string;
  /** For a process that starts hosts itself: the engine for that host and directory, started if necessary. */
  open?(host: string, directory: string): Promise<Engine>;
}

/** Who can do something: an engine of this process, or another process. */
export type EngineOrPeer = { engine: Engine } | { pid: number };

/** The host for launches that name none. */
const DEFAULT_HOST = "opencode";

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

  /** Starts a new task that knows everything a task's session knows. The first task does not change. */
  async fork(engine: Engine, task: Task, request: Omit<LaunchRequest, "fork" | "forkOf" | "batch">): Promise<Task> {
    if (isLive(task.status)) {
      throw new AsyncAgentsError(
        "task_running",
        `Task ${task.id} is still running. Wait until it has ended, then fork it.`,
      );
    }
    const launch = { ...request, fork: true, forkOf: task.sessionId, batch: null };
    return engine.launch(PERSON, launch, await engine.checkLaunch(PERSON, launch));
  }

  /** Any engine can do it: the request for a task of another process goes through the store. */
  async cancel(task: Task): Promise<Task> {
    const engines = this.#context.engines();
    const [any] = engines;
    const engine =
      engines.find(({ instance }) => instance.id === task.owner) ??
      sameDirectory(engines, task) ??
      (any && (await this.#driver(task)) ? any : await this.#opened(task));
    if (!engine) throw unavailable(task.directory);
    return (await engine.cancelTask(task, "cancelled by a person")).task;
  }

  /** An engine of this process for that host and directory. Throws `host_unavailable` if there can be none. */
  async engine(host: string, directory: string): Promise<Engine> {
    const engine =
      sameDirectory(this.#context.engines(), { host, directory }) ?? (await this.#opened({ host, directory }));
    if (engine) return engine;
    throw unavailable(directory);
  }

  /** A launch needs a directory, unless this process has only one. If it names a host, it runs in this process. */
  async placeOfLaunch(directory: string | null, host: string | null = null): Promise<EngineOrPeer> {
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
    const other = (await this.#reachable()).find((instance) => instance.directory === directory);
    if (other) return { pid: other.pid };
    return { engine: await this.#engineToLaunch(DEFAULT_HOST, directory) };
  }

  /** Only the instance that drives a task can give it an answer. */
  async placeOfAnswer(task: Task, requestId?: string): Promise<EngineOrPeer> {
    const engine = this.#context.engines().find(({ instance }) => instance.id === task.owner);
    if (engine) return { engine };
    const driver = await this.#driver(task);
    if (driver && this.#isReachable(driver)) return { pid: driver.pid };
    if (driver) throw elsewhere(`Task ${task.id}`, "Answer it there.");
    throw overAlready(task, requestId, null);
  }

  /**
   * A parent is notified by the process that handles it. If that one is gone, by any with the same host. A process in
   * another container cannot be asked: its pid means nothing here.
   */
  async placeOfTelling(task: Task): Promise<EngineOrPeer> {
    const parent = await this.#context.store.parent(task.parentSessionId);
    const host = parent?.host ?? task.host;
    const engines = this.#context.engines();
    const own = engines.find(({ instance }) => instance.id === parent?.handler);
    if (own) return { engine: own };
    const living = (await this.#living()).filter((instance) => instance.host === host && instance.pid !== process.pid);
    const handler = living.find(({ id }) => id === parent?.handler);
    if (handler && !this.#isReachable(handler)) throw elsewhere(`The parent of task ${task.id}`, "Tell it from there.");
    if (handler) return { pid: handler.pid };
    const same = engines.find(({ instance }) => instance.host === host);
    if (same) return { engine: same };
    const other = living.find((instance) => this.#isReachable(instance));
    if (other) return { pid: other.pid };
    return { engine: await this.engine(host, task.directory) };
  }

  /** A resume runs in the task's own directory. */
  async placeOfResume(task: Task): Promise<EngineOrPeer> {
    const engine = sameDirectory(this.#context.engines(), task);
    if (engine) return { engine };
    const other = (await this.#reachable()).find(
      (each) => each.directory === task.directory && each.host === task.host,
    );
    if (other) return { pid: other.pid };
    return { engine: await this.engine(task.host, task.directory) };
  }

  /** Who can show a task's conversation, best first: the instance that drives it, then any with the same host. */
  async placesOfMessages(task: Task): Promise<EngineOrPeer[]> {
    const engines = this.#context.engines().filter(({ instance }) => instance.host === task.host);
    const own =
      engines.find(({ instance }) => instance.id === task.owner) ?? sameDirectory(engines, task) ?? engines[0];
    const driver = await this.#driver(task);
    const others = (await this.#reachable()).filter(({ host, id }) => host === task.host && !this.#isOwn(id));
    const other = others.find(({ directory }) => directory === task.directory) ?? others[0];
    const places: EngineOrPeer[] = [];
    if (driver && this.#isReachable(driver)) places.push({ pid: driver.pid });
    if (own) places.push({ engine: own });
    if (other && other.pid !== driver?.pid) places.push({ pid: other.pid });
    if (places.length > 0) return places;
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
    const living = await this.#living();
    return living.find(({ id }) => id === task.owner && !this.#isOwn(id)) ?? null;
  }

  #isOwn(instanceId: string): boolean {
    return this.#context.engines().some(({ instance }) => instance.id === instanceId);
  }

  /** Living instances whose pids mean something here. One in another container cannot be asked. */
  async #reachable(): Promise<Instance[]> {
    return (await this.#living()).filter((instance) => this.#isReachable(instance));
  }

  /** One with another data folder is not found by its pid, even if it can be seen. */
  #isReachable(instance: Instance): boolean {
    return isVisible(instance) && isSameMachine(instance.machine, this.#context.machine ?? "");
  }

  async #living(): Promise<Instance[]> {
    return (await this.#context.store.instances()).filter((instance) => this.#context.isAlive(instance));
  }
}

function sameDirectory(engines: readonly Engine[], wanted: Pick<Task, "host" | "directory">): Engine | undefined {
  return engines.find(({ instance }) => instance.directory === wanted.directory && instance.host === wanted.host);
}

function elsewhere(what: string, next: string): AsyncAgentsError {
  return new AsyncAgentsError("host_unavailable", `${what} runs in another container or on another machine. ${next}`);
}

function unavailable(directory: string): AsyncAgentsError {
  const message = `No running program can do this for ${directory || "this task"}. Open the agent there (for example: opencode), then try again.`;
  return new AsyncAgentsError("host_unavailable", message, { details: { directory } });
}
