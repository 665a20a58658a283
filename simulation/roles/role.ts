/** A place on the machine where a process runs, dies and is started again. */
import type { Engine } from "../../src/engine/engine.ts";
import type { SimulatedHost } from "../agents/simulated-host.ts";
import type { SimulatedProcess } from "../world/simulated-process.ts";

export interface Role {
  readonly name: string;
  /** The process that runs now; it may be dead. */
  readonly process: SimulatedProcess;
  /** Its engines, once it has started; none while it is dead. */
  engines(): readonly Engine[];
  hosts(): readonly SimulatedHost[];
  /** The ids of its instances besides those of its engines, once it has started. */
  instances?(): readonly string[];
  /** How many callers listen to the feed, besides the process itself. */
  readonly listeners?: number;
  /** Starts a new process in place of a dead one. */
  restart(): void;
}
