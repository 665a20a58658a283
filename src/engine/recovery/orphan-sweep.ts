/**
 * Finds what dead processes left, and decides who recovers it. A task goes to an engine of its host, preferably in its
 * own directory. A launch goes only to an engine in its own directory, because a host does not find other sessions.
 * Opens a host if necessary and possible. Tasks of hosts that this process does not have are left to others.
 */
import { statSync } from "node:fs";
import { messageOf } from "../../model/errors.ts";
import { INTERRUPTED } from "../../model/evidence.ts";
import { folderProblem } from "../../model/folder-problem.ts";
import type { Task } from "../../model/task.ts";
import type { Log } from "../../process/log.ts";
import type { Instance, Launch, Store } from "../../store/store.ts";
import type { Member } from "../member.ts";
import { findOrphans } from "./orphans.ts";

/** Opens hosts in directories. The engine is a member of the supervisor when `open` resolves. */
export interface HostOpener {
  /** Whether it can open that kind of host at all. */
  has(host: string): boolean;
  open(host: string, directory: string): Promise<{ readonly instance: Instance }>;
}

interface SweepContext {
  store: Store;
  log: Log;
  now(): number;
  isAlive(instance: Instance): boolean;
  opener?: HostOpener;
}

interface SweepResult {
  /** Everything that was found could be recovered now. */
  isDone: boolean;
  /** Dead processes had left something that this process can recover. */
  hasFound: boolean;
  /** There are other living instances to watch. */
  hasOthers: boolean;
}

export class OrphanSweep {
  readonly #context: SweepContext;
  readonly #members: ReadonlyMap<string, Member>;

  constructor(context: SweepContext, members: ReadonlyMap<string, Member>) {
    this.#context = context;
    this.#members = members;
  }

  async run(): Promise<SweepResult> {
    const { store, log, isAlive } = this.#context;
    const found = await findOrphans(store, (instance) => this.#members.has(instance.id) || isAlive(instance));
    const results: boolean[] = [];
    const byHost = Map.groupBy(
      found.tasks.filter((task) => !this.#isOwn(task) && this.#hasHost(task)),
      ({ host }) => host,
    );
    for (const [host, tasks] of byHost) results.push(await this.#recoverTasks(host, tasks));
    for (const launch of found.launches) {
      if (!this.#isMember(launch.owner) && this.#hasHost(launch)) results.push(await this.#recoverLaunch(launch));
    }
    for (const { id, pid } of found.dead) {
      await store.endInstance(id);
      log.info("an instance is gone; what it left was recovered", { instance: id, pid });
    }
    return {
      isDone: !results.includes(false),
      hasFound: results.length > 0,
      hasOthers: found.living.some(({ id }) => !this.#members.has(id)),
    };
  }

  /** Also true if its instance is not registered any more, because others thought it was dead. */
  #isOwn(task: Task): boolean {
    return this.#isMember(task.owner) || [...this.#members.values()].some((member) => member.drives(task));
  }

  #hasHost({ host }: { host: string }): boolean {
    const isMembers = [...this.#members.values()].some(({ instance }) => instance.host === host);
    return isMembers || (this.#context.opener?.has(host) ?? false);
  }

  #isMember(owner: string | null): boolean {
    return owner !== null && this.#members.has(owner);
  }

  async #recoverTasks(host: string, tasks: readonly Task[]): Promise<boolean> {
    const { opener, log } = this.#context;
    const members = [...this.#members.values()].filter(({ instance }) => instance.host === host);
    if (members.length === 0 && !opener?.has(host)) return true;
    const first = members[0] ?? (await this.#openAny(host, tasks));
    if (first === null) return this.#endWhereGone(tasks);
    const byMember = Map.groupBy(
      tasks,
      (task) => members.find(({ instance }) => instance.directory === task.directory) ?? first,
    );
    const recover = async ([member, its]: [Member, Task[]]) => {
      try {
        return await member.recoverTasks(its);
      } catch (thrown) {
        log.error("tasks of dead processes could not be recovered; it is tried again", { error: messageOf(thrown) });
        return false;
      }
    };
    // At once: a host that does not answer does not keep the others waiting.
    return !(await Promise.all([...byMember].map(recover))).includes(false);
  }

  async #recoverLaunch(launch: Launch): Promise<boolean> {
    const { host, directory, id } = launch;
    const isIn = ({ instance }: Member) => instance.host === host && instance.directory === directory;
    const member = [...this.#members.values()].find(isIn);
    if (member) return member.recoverLaunch(launch);
    if (!this.#context.opener?.has(host)) return true;
    const opened = await this.#open(host, directory);
    if (opened) return opened.recoverLaunch(launch);
    if (folderProblem(directory, statSync) === null) return false;
    // No host finds its session any more. It was never prompted, and whoever asked for it got no answer.
    this.#context.log.info("a launch was interrupted, and its directory is gone", { launch: id, directory });
    await this.#context.store.closeLaunch(id);
    return true;
  }

  async #openAny(host: string, tasks: readonly Task[]): Promise<Member | null> {
    for (const directory of new Set(tasks.map((task) => task.directory))) {
      const opened = await this.#open(host, directory);
      if (opened) return opened;
    }
    return null;
  }

  async #open(host: string, directory: string): Promise<Member | null> {
    try {
      const opened = await this.#context.opener?.open(host, directory);
      return this.#members.get(opened?.instance.id ?? "") ?? null;
    } catch (thrown) {
      const error = messageOf(thrown);
      this.#context.log.error("a host for what a dead process left could not be opened", { host, directory, error });
      return null;
    }
  }

  /** If the directories are gone, nothing can be found out about the tasks. False if one of them exists. */
  async #endWhereGone(tasks: readonly Task[]): Promise<boolean> {
    const { store, now } = this.#context;
    if (tasks.some(({ directory }) => folderProblem(directory, statSync) === null)) return false;
    for (const { id, run, owner } of tasks) {
      const event = { type: "run.failed", at: now(), run: run.number, error: INTERRUPTED, progress: null } as const;
      await store.apply(id, event, { owner });
    }
    return true;
  }
}
