/**
 * A runner: claims queued runs and does them on hosts that it starts itself. It may be asked to end, and then waits for
 * its runs. The composition follows `src/daemon/runner-process.ts`, with a folder that every machine has.
 */
import { drained } from "../../src/daemon/drain.ts";
import { Desk, RUNNER_HOST } from "../../src/engine/desk.ts";
import type { Engine } from "../../src/engine/engine.ts";
import { Claimer } from "../../src/engine/queue/claimer.ts";
import { Runner } from "../../src/engine/runner.ts";
import { AsyncAgentsError } from "../../src/model/errors.ts";
import type { SimulatedHost } from "../agents/simulated-host.ts";
import type { Machine } from "../world/machine.ts";
import type { SimulatedProcess } from "../world/simulated-process.ts";
import { type Askable, askable } from "./askable.ts";
import type { Fleet, FleetMember } from "./fleet.ts";
import { simulatedMaker } from "./maker.ts";
import type { Role } from "./role.ts";
import { wordNotices } from "./word-notices.ts";

const HOSTS = ["opencode", "claude"] as const;

interface Parts extends Askable {
  runner: Runner;
  claimer: Claimer;
}

export class RunnerRole implements Role {
  readonly name: string;
  readonly member: FleetMember;
  readonly #fleet: Fleet;
  readonly #machine: Machine;
  #process: SimulatedProcess;
  #hosts: SimulatedHost[] = [];
  #parts: Parts | null = null;
  #isEnding = false;
  #isRefusing = false;

  constructor(machine: Machine, fleet: Fleet, member: FleetMember) {
    this.name = member.name;
    this.member = member;
    this.#fleet = fleet;
    this.#machine = machine;
    this.#process = machine.start(this.name);
    this.#start();
  }

  get process(): SimulatedProcess {
    return this.#process;
  }

  /** It lives, and claims. */
  get isClaiming(): boolean {
    return this.#process.isAlive && this.#parts !== null && !this.#isEnding;
  }

  /** The folder of the run that it claims next is not found out: it gives that claim back. */
  refuseNext(): void {
    this.#isRefusing = true;
  }

  /** How many runs it has now; null while it is dead or starting. */
  get load(): number | null {
    return this.#process.isAlive ? (this.#parts?.claimer.load ?? null) : null;
  }

  engines(): readonly Engine[] {
    return this.#process.isAlive ? (this.#parts?.runner.engines() ?? []) : [];
  }

  instances(): readonly string[] {
    return this.#process.isAlive && this.#parts !== null ? [this.#parts.instance.id] : [];
  }

  hosts(): readonly SimulatedHost[] {
    return this.#process.isAlive ? this.#hosts : [];
  }

  restart(): void {
    if (this.#process.isAlive || this.#machine.places.isLost(this.#process.place)) return;
    this.#parts = null;
    this.#hosts = [];
    this.#isEnding = false;
    this.#process = this.#machine.start(this.name);
    this.#start();
  }

  /** Asks it to end, as SIGTERM does. Its process has ended when this resolves. */
  async end(drainMs: number): Promise<void> {
    const machine = this.#machine;
    const process = this.#process;
    // One that stands still hears of it when it goes on.
    await process.settle(0, () => {});
    const parts = this.#parts;
    if (parts === null || !this.isClaiming || this.#process !== process) return;
    const { claimer, runner, performer } = parts;
    this.#isEnding = true;
    const say = (line: string) => machine.history.add(process.name, line);
    const hurry = new AbortController().signal;
    try {
      await drained({ clock: process, claimer, runner }, { drainMs, say, hurry });
      machine.ended(process);
      await performer.stop();
      await claimer.stop();
      await runner.stop();
    } finally {
      process.die();
    }
  }

  #start(): void {
    const machine = this.#machine;
    const process = this.#process;
    const surroundings = machine.surroundings(process);
    const { store, isAlive, machine: place, now, newId } = surroundings;
    const { settings, faults } = machine;
    const problem = async () => (faults.happens("host cannot be opened") ? "It does not start here." : null);
    const opened = (host: SimulatedHost) => this.#hosts.push(host);
    const makers = HOSTS.map((kind) => simulatedMaker(machine, process, kind, opened, problem));
    const { limits, claimMs, idleMs } = this.#fleet;
    const runner = new Runner({
      ...surroundings,
      makers,
      limits: settings.limits,
      pollMs: settings.pollMs,
      idleMs,
      wordNotices,
    });
    const open = (host: string, directory: string) => runner.open(host, directory);
    const desk = new Desk({ store, now, newId, isAlive, machine: place, engines: () => runner.engines(), open });
    const asked = askable(machine, surroundings, { host: RUNNER_HOST, desk, runner });
    const { instance, performer } = asked;
    const { labels, max } = this.member;
    const claimer = new Claimer({
      ...surroundings,
      offer: { id: instance.id, name: place, hosts: HOSTS, labels, machine: place, max, limits },
      engines: () => runner.engines(),
      open,
      onEntries: (listener) => runner.onEntries(listener),
      onEnded: (listener) => runner.onEnded(listener),
      mayAct: () => runner.holdsLease(instance.id),
      folderOf: async ({ task }) => {
        if (this.#isRefusing) {
          this.#isRefusing = false;
          throw new AsyncAgentsError("store_unavailable", "The repositories of this machine could not be read.");
        }
        return { directory: task.directory, clone: null };
      },
      leaseMs: claimMs,
      pollMs: settings.pollMs,
    });
    const start = async () => {
      await runner.register(instance);
      performer.start();
      await runner.recover();
      claimer.start();
      this.#parts = { ...asked, runner, claimer };
    };
    start().catch((thrown: unknown) => {
      machine.startFailed(process, thrown);
      process.die();
    });
  }
}
