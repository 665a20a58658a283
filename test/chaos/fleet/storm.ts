/**
 * The long run of the fleet: three runners, two servers and two parents on one PostgreSQL. Runners are killed every few
 * seconds, sometimes with their whole machine; a runner and a parent stand still for longer than their leases; a server
 * is killed, and PostgreSQL is restarted in the middle. Returns when every task is over and every parent was told.
 */
import { LEASE_MS } from "../../../src/engine/recovery/lease.ts";
import { isLive, type Task } from "../../../src/model/task.ts";
import { machineOf } from "../../../src/process/machine.ts";
import type { Loss } from "./attempts.ts";
import { type Expected, storedTasks } from "./checks.ts";
import { EndReader } from "./end-reader.ts";
import type { Fleet, FleetServer } from "./fleet.ts";
import { byParent, byQueue, byServer, isQuick, Launches } from "./launches.ts";
import { Place } from "./places.ts";
import { lastAnswer, transcripts } from "./real-work.ts";

const TICK_MS = 200;
const SAY_EACH_MS = 15_000;
const KILL_EACH_MS = 4_000;
/** Longer than others need to see that a process is gone, so that they take over. */
const AWAY_MS = 7_000;
const FREEZE_MS = LEASE_MS + 8_000;
const GO_PER_TICK = 1;
const RETRIES = 5;
const LEAST_MS = 4_000;
/** The machines with a parent. */
export const PARENTS = ["beta", "epsilon"];

export class Storm {
  readonly losses: Loss[] = [];
  readonly launches: Launches;
  readonly readers: EndReader[];
  /** How long the woken runner took to stop its agents. */
  stoppedMs = 0;
  readonly #fleet: Fleet;
  readonly #restart: () => Promise<void>;
  readonly #runners: Place[];
  readonly #servers: [Place<FleetServer>, Place<FleetServer>];
  readonly #parents: Place[];
  readonly #held = new Set<string>();
  readonly #done = new Set<string>();
  readonly #background: Promise<void>[] = [];
  #machines = 0;
  #next = 0;
  #killedAt = 0;
  #saidAt = 0;

  private constructor(fleet: Fleet, restart: () => Promise<void>, tasks: number) {
    const { losses } = this;
    this.#fleet = fleet;
    this.#restart = restart;
    const alone = () => fleet.runner(`delta-${++this.#machines}`);
    this.#runners = [
      // Beside a server, which takes over.
      new Place(losses, { start: () => fleet.runner("alpha"), takers: "same", awayMs: AWAY_MS, leastMs: LEAST_MS }),
      // With its whole machine: the next one is another machine.
      new Place(losses, { start: alone, takers: "other", awayMs: 0, leastMs: LEAST_MS }),
      // Alone on its machine, and takes over itself when it is started again.
      new Place(losses, { start: () => fleet.runner("gamma"), takers: "same", awayMs: 0, leastMs: LEAST_MS }),
    ];
    const server = (machine: string) =>
      new Place(losses, { start: () => fleet.server(machine), takers: "same", awayMs: 0, leastMs: LEAST_MS });
    this.#servers = [server("alpha"), server("beta")];
    this.#parents = [
      new Place(losses, { start: () => fleet.parent("beta"), takers: "same", awayMs: AWAY_MS, leastMs: LEAST_MS }),
      new Place(losses, { start: () => fleet.parent("epsilon"), takers: "any", awayMs: LEASE_MS, leastMs: LEAST_MS }),
    ];
    this.launches = new Launches(fleet);
    this.#plan(tasks);
    this.readers = [];
  }

  static async start(fleet: Fleet, restart: () => Promise<void>, tasks: number): Promise<Storm> {
    const storm = new Storm(fleet, restart, tasks);
    for (const place of [...storm.#servers, ...storm.#runners, ...storm.#parents]) await place.start();
    for (const place of storm.#servers) {
      let last = await place.start();
      storm.readers.push(new EndReader(() => (last = place.process ?? last)));
    }
    return storm;
  }

  servers(): Promise<FleetServer[]> {
    return Promise.all(this.#servers.map((place) => place.start()));
  }

  async run(): Promise<void> {
    for (;;) {
      const stored = await this.#stored();
      if (stored !== null) {
        const live = stored.filter(({ status }) => isLive(status));
        this.launches.go(new Set(live.map(({ id }) => id)));
        if (live.length === 0 && this.launches.isDone) break;
        this.#say(stored.length - live.length, live.length);
        await this.#happen(stored.length - live.length, live);
      }
      this.#letGo();
      await Bun.sleep(TICK_MS);
    }
    await Promise.all(this.#background);
    await Promise.all([...this.#servers, ...this.#runners, ...this.#parents].map((place) => place.start()));
    while ((await this.#fleet.store.parentsWithNotices()).length > 0) await Bun.sleep(TICK_MS);
  }

  #plan(tasks: number): void {
    const [fleet, launches] = [this.#fleet, this.launches];
    const all = Array.from({ length: tasks }, (_, index): Expected => {
      return { name: `t${String(index).padStart(4, "0")}`, retries: index % 2 === 0 ? 0 : RETRIES };
    });
    const part = (share: number) => all.splice(0, Math.floor(tasks * share));
    const once = (share: number) => part(share).map((task) => ({ ...task, retries: 0 }));
    launches.add(byServer(fleet, this.#servers[0], true), part(0.1), 8);
    launches.add(byServer(fleet, this.#servers[1], false), once(0.1), 4);
    for (const place of this.#parents) launches.add(byParent(place), once(0.08), 4);
    launches.add(byQueue(fleet), all, tasks);
  }

  /** It takes minutes: those who wait want to see that it goes on. */
  #say(over: number, live: number): void {
    if (performance.now() - this.#saidAt < SAY_EACH_MS) return;
    this.#saidAt = performance.now();
    console.log(`${over} tasks are over, ${live} live; ${this.losses.length} losses`);
  }

  /** Null while the database is away. */
  #stored(): Promise<Task[] | null> {
    return storedTasks(this.#fleet).catch(() => null);
  }

  #letGo(): void {
    const told = this.#fleet.signs("go");
    const waiting = [...this.#fleet.signs("begun")].filter((name) => !told.has(name) && !this.#held.has(name));
    for (const name of waiting.slice(0, GO_PER_TICK)) this.#fleet.letGo(name);
  }

  #isDue(what: string, is: boolean): boolean {
    if (!is || this.#done.has(what)) return false;
    this.#done.add(what);
    return true;
  }

  async #happen(over: number, live: readonly Task[]): Promise<void> {
    const total = this.launches.planned.size;
    const [gamma, epsilon] = [this.#runners[2], this.#parents[1]];
    const [begun, told] = [this.#fleet.signs("begun"), this.#fleet.signs("go")];
    const theirs = live.filter(({ machine, description }) => {
      const isWaiting = !isQuick(description) && begun.has(description) && !told.has(description);
      return isWaiting && machine === machineOf(this.#fleet.data("gamma"));
    });
    if (gamma && epsilon && this.#isDue("freeze", over > total * 0.1 && theirs.length >= 4)) {
      this.#background.push(this.#freeze(gamma, theirs), this.#freezeParent(epsilon));
    }
    if (this.#isDue("server", over > total * 0.3)) await this.#servers[1].kill();
    if (this.#isDue("restart", over > total * 0.5)) await this.#restart();
    if (performance.now() - this.#killedAt < KILL_EACH_MS || over > total * 0.9) return;
    const all = [...this.#runners, ...this.#parents];
    if (await all[this.#next++ % all.length]?.kill()) this.#killedAt = performance.now();
  }

  /** Half of its agents get no word to go on before they are stopped. The others could end as soon as it goes on. */
  async #freeze(place: Place, tasks: readonly Task[]): Promise<void> {
    const held = tasks.slice(0, Math.ceil(tasks.length / 2));
    for (const { description } of held) this.#held.add(description);
    const { wokenAt } = await place.freeze(this.#untilTakenOver(tasks));
    const isStopped = () => {
      const sessions = transcripts(this.#fleet);
      return held.every(({ sessionId }) => {
        const session = sessions.get(sessionId);
        return session && lastAnswer(session)?.error?.aborted === true;
      });
    };
    while (!isStopped()) await Bun.sleep(TICK_MS);
    this.stoppedMs = Date.now() - (wokenAt ?? 0);
    this.#held.clear();
    place.isSpared = false;
  }

  async #freezeParent(place: Place): Promise<void> {
    await place.freeze(Bun.sleep(FREEZE_MS));
    place.isSpared = false;
  }

  /** A while after the lease, and not before others have taken over all of these. */
  async #untilTakenOver(tasks: readonly Task[]): Promise<void> {
    await Bun.sleep(FREEZE_MS);
    const { store } = this.#fleet;
    for (const { id, owner } of tasks) {
      while ((await store.task(id).catch(() => ({ owner })))?.owner === owner) await Bun.sleep(TICK_MS);
    }
  }
}
