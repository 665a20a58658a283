/**
 * One OpenCode of a seed's run, as an operating-system process that is killed (SIGKILL), frozen (SIGSTOP) and started
 * again. Invariant: a start that was killed half-way is no failure; the next `restart` begins anew.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Client, createClient } from "../../../src/client/client.ts";
import { messageOf } from "../../../src/model/errors.ts";
import type { World } from "../../scenarios/world.ts";

type Tell = (who: string, what: string) => void;

export class RealProcess {
  readonly name: string;
  readonly world: World;
  readonly #tell: Tell;
  #starting: Promise<void> | null = null;
  #isFrozen = false;

  constructor(name: string, world: World, tell: Tell) {
    this.name = name;
    this.world = world;
    this.#tell = tell;
  }

  /** It runs, has started completely, and is not frozen. */
  get isUp(): boolean {
    return this.world.opencode.running && this.#starting === null && !this.#isFrozen;
  }

  get isStarting(): boolean {
    return this.#starting !== null;
  }

  /** The status API, if it listens. */
  api(): Client | null {
    if (!this.isUp) return null;
    const file = join(this.world.storage, "servers", `${this.world.opencode.pid}.json`);
    if (!existsSync(file)) return null;
    const { url, token } = JSON.parse(readFileSync(file, "utf8"));
    return createClient({ url, token });
  }

  /** False if there was nothing to kill. */
  async kill(): Promise<boolean> {
    const { opencode } = this.world;
    if (!opencode.running) return false;
    this.#tell(this.name, `kill -9 of pid ${opencode.pid}`);
    this.#isFrozen = false;
    await opencode.kill("SIGKILL");
    return true;
  }

  restart(): Promise<void> {
    if (this.#starting) return this.#starting;
    if (this.world.opencode.running) return Promise.resolve();
    this.#tell(this.name, "is started again");
    this.#starting = this.world.opencode
      .restart()
      .then(
        () => this.#tell(this.name, `runs with pid ${this.world.opencode.pid}`),
        (thrown: unknown) => this.#tell(this.name, `did not start: ${messageOf(thrown).split("\n")[0]}`),
      )
      .finally(() => {
        this.#starting = null;
      });
    return this.#starting;
  }

  /** For so long, or until `thaw`. False if there was nothing to freeze. */
  freeze(ms: number): boolean {
    const { opencode } = this.world;
    if (!opencode.running || this.#isFrozen) return false;
    const { pid } = opencode;
    this.#tell(this.name, `is frozen for ${ms} ms`);
    process.kill(pid, "SIGSTOP");
    this.#isFrozen = true;
    setTimeout(() => {
      if (opencode.running && opencode.pid === pid) this.thaw();
    }, ms).unref();
    return true;
  }

  thaw(): void {
    const { opencode } = this.world;
    if (!this.#isFrozen || !opencode.running) return;
    this.#isFrozen = false;
    process.kill(opencode.pid, "SIGCONT");
    this.#tell(this.name, "goes on");
  }
}
