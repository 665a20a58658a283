/**
 * The daemon: engines on a host that it starts itself, recovery for dead processes, and the queue of follow-ups. Its
 * agent program is a child that dies with it. The composition follows `src/daemon/daemon.ts`, without git and HTTP.
 */
import type { BoardParts } from "../../src/board/board-context.ts";
import { followUp } from "../../src/board/follow-ups.ts";
import { QueuePump } from "../../src/board/queue-pump.ts";
import { NO_OTHERS } from "../../src/board/remote-operations.ts";
import { Desk } from "../../src/engine/desk.ts";
import type { Engine } from "../../src/engine/engine.ts";
import { Runner } from "../../src/engine/runner.ts";
import { Changes } from "../../src/engine/watching/changes.ts";
import { Waiter } from "../../src/engine/watching/waiter.ts";
import type { HostMaker } from "../../src/hosts/host-maker.ts";
import { AsyncAgentsError } from "../../src/model/errors.ts";
import type { Task } from "../../src/model/task.ts";
import { KeyedQueue } from "../../src/process/keyed-queue.ts";
import { FROM_PERSON } from "../../src/protocol/call-origin.ts";
import type { SimulatedHost } from "../agents/simulated-host.ts";
import type { Machine } from "../world/machine.ts";
import type { SimulatedProcess } from "../world/simulated-process.ts";
import type { Role } from "./role.ts";
import { wordNotices } from "./word-notices.ts";

interface Parts {
  desk: Desk;
  runner: Runner;
  parts: BoardParts;
  pump: QueuePump;
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

  #running(): Parts {
    if (!this.#parts || !this.#process.isAlive) throw new AsyncAgentsError("host_failed", "The daemon does not run.");
    return this.#parts;
  }

  #start(): void {
    const machine = this.#machine;
    const process = this.#process;
    const surroundings = machine.surroundings(process);
    const { store, isAlive, after, machine: place } = surroundings;
    const runner = new Runner({
      ...surroundings,
      makers: [this.#maker(process, "opencode"), this.#maker(process, "claude")],
      limits: machine.settings.limits,
      maxConcurrent: machine.settings.maxConcurrent,
      pollMs: machine.settings.pollMs,
      wordNotices,
    });
    const desk = new Desk({
      store,
      isAlive,
      machine: place,
      engines: () => runner.engines(),
      open: (host, directory) => runner.open(host, directory),
    });
    const changes = new Changes(surroundings);
    const parts: BoardParts = {
      ...surroundings,
      desk,
      remote: NO_OTHERS,
      newId: () => machine.newUuid(),
      worktrees: "/simulated",
      executors: async () => [],
      changes,
      waiter: new Waiter({ store, after }, changes),
      oneAtATime: new KeyedQueue(),
    };
    const pump = new QueuePump(parts);
    const start = async () => {
      await changes.start();
      changes.onEntries((entries) => {
        for (const entry of entries) pump.onEntry(entry);
      });
      await pump.start();
      this.#parts = { desk, runner, parts, pump };
      void runner.recover();
    };
    start().catch((thrown: unknown) => {
      machine.startFailed(process, thrown);
      process.die();
    });
  }

  #maker(process: SimulatedProcess, kind: "opencode" | "claude"): HostMaker {
    const machine = this.#machine;
    return {
      kind,
      problem: async () => null,
      open: async () => {
        const host = machine.host({
          kind,
          process,
          startProgram: () => {
            const child = machine.start("program", process.place);
            process.onEnd(() => child.die());
            return child;
          },
        });
        this.#hosts.push(host);
        return { host, close: async () => host.killProgram() };
      },
      stop: async () => {},
    };
  }
}
