/**
 * OpenCode with the plugin in it: one engine in one directory. Its agents run in the same process and die with it. The
 * composition follows `src/opencode/instance.ts`.
 */
import { createEngine } from "../../src/engine/create-engine.ts";
import type { Engine } from "../../src/engine/engine.ts";
import { Slots } from "../../src/engine/runs/slots.ts";
import { Supervisor } from "../../src/engine/supervisor.ts";
import type { SimulatedHost } from "../agents/simulated-host.ts";
import type { Machine } from "../world/machine.ts";
import type { SimulatedProcess } from "../world/simulated-process.ts";
import type { Role } from "./role.ts";
import { wordNotices } from "./word-notices.ts";

export class OpenCodeRole implements Role {
  readonly name: string;
  readonly #machine: Machine;
  readonly #directory: string;
  #process: SimulatedProcess;
  #engine: Engine | null = null;
  #host: SimulatedHost;
  #listeners = 0;

  constructor(machine: Machine, name: string, directory: string) {
    this.name = name;
    this.#machine = machine;
    this.#directory = directory;
    this.#process = machine.start(name);
    this.#host = this.#start();
  }

  get process(): SimulatedProcess {
    return this.#process;
  }

  get listeners(): number {
    return this.#listeners;
  }

  engines(): readonly Engine[] {
    return this.#engine !== null && this.#process.isAlive ? [this.#engine] : [];
  }

  hosts(): readonly SimulatedHost[] {
    return this.#process.isAlive ? [this.#host] : [];
  }

  restart(): void {
    if (this.#process.isAlive || this.#machine.places.isLost(this.#process.place)) return;
    this.#engine = null;
    this.#process = this.#machine.start(this.name);
    this.#host = this.#start();
  }

  /** Counts those who begin to listen from now on, and have not stopped. */
  #count(changes: Supervisor["changes"]): void {
    const listen = changes.onEntries.bind(changes);
    const process = this.#process;
    this.#listeners = 0;
    changes.onEntries = (listener) => {
      const stop = listen(listener);
      if (this.#process === process) this.#listeners++;
      let isOver = false;
      return () => {
        if (!isOver && this.#process === process) this.#listeners--;
        isOver = true;
        stop();
      };
    };
  }

  #start(): SimulatedHost {
    const machine = this.#machine;
    const process = this.#process;
    const surroundings = machine.surroundings(process);
    const host = machine.host({ kind: "opencode", process });
    const { settings } = machine;
    const supervisor = new Supervisor({ ...surroundings, pollMs: settings.pollMs });
    this.#count(supervisor.changes);
    const engine = createEngine({
      ...surroundings,
      host,
      supervisor,
      directory: this.#directory,
      settings,
      slots: new Slots(settings.maxConcurrent),
      wordNotices,
    });
    const start = async () => {
      await engine.start();
      this.#engine = engine;
      void supervisor.recover();
    };
    // A person starts it again when it does not start.
    start().catch((thrown: unknown) => {
      machine.startFailed(process, thrown);
      process.die();
    });
    return host;
  }
}
