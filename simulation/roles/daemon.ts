/**
 * The daemon: engines on a host that it starts itself, recovery for dead processes, and the queue of follow-ups. Its
 * agent program is a child that dies with it. The composition follows `src/daemon/daemon.ts`, without git and HTTP.
 */
import type { BoardParts } from "../../src/board/board-context.ts";
import { followUp } from "../../src/board/follow-ups.ts";
import { QueuePump } from "../../src/board/queue-pump.ts";
import { TaskWorktrees } from "../../src/board/worktrees/task-worktrees.ts";
import { DAEMON_HOST, Desk } from "../../src/engine/desk.ts";
import type { Engine } from "../../src/engine/engine.ts";
import type { QueueRequest } from "../../src/engine/queue/enqueue.ts";
import { Runner } from "../../src/engine/runner.ts";
import { Changes } from "../../src/engine/watching/changes.ts";
import { Waiter } from "../../src/engine/watching/waiter.ts";
import { AsyncAgentsError } from "../../src/model/errors.ts";
import type { Task } from "../../src/model/task.ts";
import { KeyedQueue } from "../../src/process/keyed-queue.ts";
import { FROM_PERSON } from "../../src/protocol/call-origin.ts";
import type { SimulatedHost } from "../agents/simulated-host.ts";
import type { Machine } from "../world/machine.ts";
import type { SimulatedProcess } from "../world/simulated-process.ts";
import { type Askable, askable } from "./askable.ts";
import { simulatedMaker } from "./maker.ts";
import type { Role } from "./role.ts";
import { wordNotices } from "./word-notices.ts";

const HOSTS = ["opencode", "claude"] as const;

interface Parts {
  desk: Desk;
  runner: Runner;
  parts: BoardParts;
  pump: QueuePump;
  /** Null in a seed without runners: then nobody asks through the store. */
  asked: Askable;
}

export class DaemonRole implements Role {
  readonly name = "daemon";
  readonly #machine: Machine;
  #process: SimulatedProcess;
  #hosts: SimulatedHost[] = [];
  #parts: Parts | null = null;

  constructor(machine: Machine) {
    this.#machine = machine;
    this.#process = machine.start(this.name);
    this.#start();
  }

  get process(): SimulatedProcess {
    return this.#process;
  }

  /** Null while it is dead or starting. */
  get desk(): Desk | null {
    return this.#process.isAlive ? (this.#parts?.desk ?? null) : null;
  }

  engines(): readonly Engine[] {
    return this.#process.isAlive ? (this.#parts?.runner.engines() ?? []) : [];
  }

  instances(): readonly string[] {
    const own = this.#process.isAlive ? this.#parts?.asked.instance.id : undefined;
    return own === undefined ? [] : [own];
  }

  hosts(): readonly SimulatedHost[] {
    return this.#process.isAlive ? this.#hosts : [];
  }

  restart(): void {
    if (this.#process.isAlive || this.#machine.places.isLost(this.#process.place)) return;
    this.#parts = null;
    this.#hosts = [];
    this.#process = this.#machine.start(this.name);
    this.#start();
  }

  /** Starts an attempt, as `src/board/attempts/attempt-start.ts` does, in a folder that exists. */
  async startAttempt(attemptId: string, prompt: string): Promise<Task> {
    const { desk, parts } = this.#running();
    const engine = await desk.engine("opencode", "/");
    const task = await desk.launch(engine, { description: "work", prompt, agent: "build", batch: attemptId });
    const { store, now, newId } = parts;
    await store.board.addSession({ id: newId(), attemptId, taskId: task.id, host: "opencode", createdAt: now() });
    return task;
  }

  /** A task for a host with sessions of its own. */
  async launchElsewhere(prompt: string): Promise<Task> {
    const { desk } = this.#running();
    const engine = await desk.engine("claude", "/");
    return desk.launch(engine, { description: "work", prompt, agent: "build", batch: null });
  }

  /** What a person asks of an attempt's queue. */
  async followUp(attemptId: string, action: "send" | "queue" | "cancel", prompt: string): Promise<void> {
    const { parts, pump } = this.#running();
    const call = { operation: "follow_up", origin: FROM_PERSON, hadEffects: () => {} } as const;
    await followUp(parts, pump, { attempt_id: attemptId, action, prompt }, call);
  }

  /** Queues a task for any runner. */
  enqueue(request: QueueRequest): Promise<Task> {
    return this.#running().desk.enqueue(request, { isLimited: false });
  }

  find(taskId: string): Promise<Task | null> {
    return this.#running().parts.store.task(taskId);
  }

  cancel(task: Task): Promise<Task> {
    return this.#running().desk.cancel(task, { mayOpen: true });
  }

  /** Here, or through the store on the machine that has its session. */
  resume(taskId: string, prompt: string): Promise<{ run: { number: number } }> {
    return this.#running().asked.resume(taskId, prompt);
  }

  answer(taskId: string, decision: "once" | "reject"): Promise<void> {
    return this.#running().asked.answer(taskId, decision);
  }

  #running(): Parts {
    if (!this.#parts || !this.#process.isAlive) throw new AsyncAgentsError("host_failed", "The daemon does not run.");
    return this.#parts;
  }

  #start(): void {
    const machine = this.#machine;
    const process = this.#process;
    const surroundings = machine.surroundings(process);
    const { store, isAlive, after, machine: place, now, newId } = surroundings;
    const runner = new Runner({
      ...surroundings,
      makers: HOSTS.map((kind) => simulatedMaker(machine, process, kind, (host) => this.#hosts.push(host))),
      limits: machine.settings.limits,
      maxConcurrent: machine.settings.maxConcurrent,
      pollMs: machine.settings.pollMs,
      wordNotices,
    });
    const desk = new Desk({
      store,
      now,
      newId,
      isAlive,
      machine: place,
      engines: () => runner.engines(),
      open: (host, directory) => runner.open(host, directory),
    });
    const asked = askable(machine, surroundings, { host: DAEMON_HOST, desk, runner });
    const changes = new Changes(surroundings);
    const parts: BoardParts = {
      ...surroundings,
      desk,
      remote: asked.remote,
      newId: () => machine.newUuid(),
      worktrees: "/simulated",
      executors: async () => [],
      changes,
      waiter: new Waiter({ store, after }, changes),
      taskWorktrees: new TaskWorktrees({ store, after, worktrees: "/simulated" }),
      oneAtATime: new KeyedQueue(),
    };
    const pump = new QueuePump(parts);
    const start = async () => {
      await changes.start();
      changes.onEntries((entries) => {
        for (const entry of entries) pump.onEntry(entry);
      });
      await pump.start();
      asked.performer.start();
      await runner.register(asked.instance);
      this.#parts = { desk, runner, parts, pump, asked };
      void runner.recover();
    };
    start().catch((thrown: unknown) => {
      machine.startFailed(process, thrown);
      process.die();
    });
  }
}
