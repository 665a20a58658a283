/**
 * Finds what dead processes left, and decides who recovers it. Their instances are ended first: only then may others
 * write about what they had. A task goes to an engine of its host, preferably in its own directory. A launch goes only
 * to an engine in its own directory, because a host does not find other sessions. Opens a host if necessary and
 * possible. Tasks of hosts that this process does not have are left to others; nobody here can reach the session of a
 * task on another machine, so that one ends as interrupted, unless a living process of that machine can.
 */
import { statSync } from "node:fs";
import { messageOf } from "../../model/errors.ts";
import { endOf, judgeInterrupted, noEvidence } from "../../model/evidence.ts";
import { folderProblem } from "../../model/folder-problem.ts";
import type { Task } from "../../model/task.ts";
import { LimitedQueue } from "../../process/limited-queue.ts";
import type { Log } from "../../process/log.ts";
import { isSameMachine } from "../../process/machine.ts";
import type { Instance, Launch, Store } from "../../store/store.ts";
import type { Member } from "../member.ts";
import { endDead, findOrphans } from "./orphans.ts";

/** How many tasks are written at once: heartbeats need connections, too. */
const WRITES = 4;

/**
 * How long a task is left to the processes of its own machine, which can read how it ended. They may have to start a
 * host for that, and perhaps none of them has it.
 */
const LEFT_MS = 120_000;

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
  monotonic(): number;
  isAlive(instance: Instance): boolean;
  machine: string;
  opener?: HostOpener;
}

interface SweepResult {
  /** Everything that was found could be recovered now. */
  isDone: boolean;
  /** Dead processes had left something that this process can recover. */
  hasFound: boolean;
  /** There are other living instances to watch. */
  hasOthers: boolean;
  /** When the first lease of the others is over, unless it is renewed; null if none runs out. */
  leaseOverMs: number | null;
}

export class OrphanSweep {
  readonly #context: SweepContext;
  readonly #members: ReadonlyMap<string, Member>;
  /** Since when tasks of other machines are left to these, by id and fence. */
  #left = new Map<string, number>();

  constructor(context: SweepContext, members: ReadonlyMap<string, Member>) {
    this.#context = context;
    this.#members = members;
  }

  async run(): Promise<SweepResult> {
    const { store, isAlive } = this.#context;
    const found = await findOrphans(store, (instance) => this.#members.has(instance.id) || isAlive(instance));
    await this.#endAll(found.dead);
    const results: boolean[] = [];
    const tasks = found.tasks.filter((task) => !this.#isOwn(task));
    // First: it takes only the store, and a host may take long.
    const remote = this.#withoutLeft(
      tasks.filter((task) => !this.#isHere(task)),
      found.living,
    );
    if (remote.length > 0) results.push(await this.#interrupt(remote));
    const byHost = Map.groupBy(
      tasks.filter((task) => this.#isHere(task) && this.#hasHost(task)),
      ({ host }) => host,
    );
    for (const [host, its] of byHost) results.push(await this.#recoverTasks(host, its));
    for (const launch of found.launches) {
      if (this.#isMember(launch.owner)) continue;
      if (!this.#isHere(launch)) results.push(await this.#closeRemote(launch));
      else if (this.#hasHost(launch)) results.push(await this.#recoverLaunch(launch));
    }
    const others = found.living.filter(({ id }) => !this.#members.has(id));
    const leases = others.flatMap(({ leaseLeft }) => (leaseLeft !== null && leaseLeft > 0 ? [leaseLeft] : []));
    return {
      isDone: !results.includes(false),
      hasFound: results.length > 0,
      hasOthers: others.length > 0,
      leaseOverMs: leases.length > 0 ? Math.min(...leases) : null,
    };
  }

  async #endAll(dead: readonly Instance[]): Promise<void> {
    const { store, log } = this.#context;
    for (const instance of dead) {
      const { id, pid, machine } = instance;
      if (await endDead(store, instance)) log.info("an instance is gone", { instance: id, pid, machine });
    }
  }

  /** Only those that no living process of their machine can read, or has read in time. */
  #withoutLeft(tasks: readonly Task[], living: readonly Instance[]): Task[] {
    const at = this.#context.monotonic();
    const machines = new Set(living.map(({ machine }) => machine));
    const known = this.#left;
    this.#left = new Map();
    return tasks.filter(({ id, fence, machine, phaseDetail, cancelRequestedAt }) => {
      // Nothing is lost before its time: its machine may be back by then. Nobody waits for one that is to be cancelled.
      const isPaused = phaseDetail?.kind === "paused" && cancelRequestedAt === null;
      if (isPaused && this.#context.now() < phaseDetail.until + LEFT_MS) return false;
      if (!machines.has(machine)) return true;
      const key = `${id} ${fence}`;
      const since = known.get(key) ?? at;
      this.#left.set(key, since);
      return at - since >= LEFT_MS;
    });
  }

  #isHere({ machine }: { machine: string }): boolean {
    return isSameMachine(machine, this.#context.machine);
  }

  /** It was never prompted, and whoever asked for it got no answer. */
  async #closeRemote({ id, machine }: Launch): Promise<boolean> {
    this.#context.log.info("a launch was interrupted on another machine", { launch: id, machine });
    await this.#context.store.closeLaunch(id, this.#writer);
    return true;
  }

  /** Any instance of this process: nobody here owns what it writes about. */
  get #writer(): string {
    return this.#members.keys().next().value ?? "";
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
    await this.#context.store.closeLaunch(id, this.#writer);
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
    if (tasks.some(({ directory }) => folderProblem(directory, statSync) === null)) return false;
    return this.#interrupt(tasks);
  }

  /** Ends them without asking a host. Whoever handles their parents finds the notices in the feed. */
  async #interrupt(tasks: readonly Task[]): Promise<boolean> {
    const { store, now } = this.#context;
    const writes = new LimitedQueue(WRITES);
    const interrupt = ({ id, run, owner, fence, cancelRequestedAt }: Task) => {
      const verdict = judgeInterrupted(noEvidence(false), cancelRequestedAt !== null);
      const event = endOf(verdict, { at: now(), run: run.number, progress: null });
      return store.apply(id, event, { owner, fence, by: this.#writer });
    };
    await Promise.all(tasks.map((task) => writes.run(() => interrupt(task))));
    return true;
  }
}
