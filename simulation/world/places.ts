/**
 * The machines of a seed: one that all processes are on, or two that share a database. Each has its own disk with
 * sessions and its own wall clock; it may be cut off from the database, or be gone for good. Knows no processes.
 */
import { ScriptedSessions } from "../../src/hosts/scripted/sessions.ts";
import type { Random } from "../time/random.ts";

/** So that no two disks have the same ids. */
const IDS_OF_A_DISK = 25_000_000;

/** The disk of one machine: the sessions of each host, which knows no others. */
interface Place {
  name: string;
  wall: { skew: number };
  sessions: Record<"opencode" | "claude", ScriptedSessions>;
  cutUntil: number;
  /** Since when it is gone for good. */
  lostAt: number | null;
}

export class Places {
  readonly #all: readonly Place[];

  constructor(random: Random) {
    const names = random.split("machines").chance(0.35) ? ["mac_one", "mac_two"] : [""];
    this.#all = names.map((name, index) => ({
      name,
      wall: { skew: 0 },
      sessions: {
        opencode: new ScriptedSessions(2 * index * IDS_OF_A_DISK),
        claude: new ScriptedSessions((2 * index + 1) * IDS_OF_A_DISK),
      },
      cutUntil: 0,
      lostAt: null,
    }));
  }

  get names(): readonly string[] {
    return this.#all.map(({ name }) => name);
  }

  get areSeveral(): boolean {
    return this.#all.length > 1;
  }

  /** The first machine has the daemon, one OpenCode and one runner, the second the others. */
  ofRole(role: string): string {
    return (role.endsWith("-b") ? this.#all.at(-1) : this.#all[0])?.name ?? "";
  }

  wall(name: string): { skew: number } {
    return this.#of(name).wall;
  }

  setWallClock(name: string, skew: number): void {
    this.#of(name).wall.skew = skew;
  }

  sessions(name: string, host: string): ScriptedSessions {
    return this.#of(name).sessions[host === "opencode" ? "opencode" : "claude"];
  }

  /** OpenCode's sessions on the machine that has this one; those of the first if none has it any more. */
  sessionsWith(sessionId: string): ScriptedSessions {
    return this.sessions(this.ofSession(sessionId) ?? this.#of("").name, "opencode");
  }

  /** The machine that has this session of OpenCode; null if none has it. */
  ofSession(sessionId: string): string | null {
    return this.#all.find(({ sessions }) => sessions.opencode.has(sessionId))?.name ?? null;
  }

  has(host: string, sessionId: string): boolean {
    return this.#all.some(({ name }) => this.sessions(name, host).has(sessionId));
  }

  /** From now on, and until then, its queries do not reach the database. */
  cut(name: string, until: number): void {
    const place = this.#of(name);
    place.cutUntil = Math.max(place.cutUntil, until);
  }

  cutUntil(name: string): number {
    return this.#of(name).cutUntil;
  }

  heal(): void {
    for (const place of this.#all) {
      place.cutUntil = 0;
      place.wall.skew = 0;
    }
  }

  lose(name: string, at: number): void {
    this.#of(name).lostAt = at;
  }

  isLost(name: string): boolean {
    return this.lostAt(name) !== null;
  }

  lostAt(name: string): number | null {
    return this.#of(name).lostAt;
  }

  #of(name: string): Place {
    const [first] = this.#all;
    const found = this.#all.find((place) => place.name === name) ?? first;
    if (found === undefined) throw new Error("There is no machine.");
    return found;
  }
}
