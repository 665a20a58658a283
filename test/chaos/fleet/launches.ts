/**
 * Where the tasks of a storm come from, a few at a time: the queue for any runner, servers that are asked over HTTP,
 * parents. A launch that got no answer may or may not have happened: it is launched again under another name.
 */
import type { LaunchBody } from "../../../src/protocol/tasks.ts";
import type { Expected } from "./checks.ts";
import type { Fleet, FleetProcess, FleetServer } from "./fleet.ts";
import type { Place } from "./places.ts";

const ANSWER_MS = 20_000;

/** Resolves with the id of the task. */
type Launch = (expected: Expected, prompt: string) => Promise<string>;

/** One in three waits for no word. */
export function isQuick(name: string): boolean {
  return Number(name.slice(1, 5)) % 3 === 0;
}

export class Launches {
  /** Every task that may exist, by its name. */
  readonly planned = new Map<string, Expected>();
  /** The ids of those that were accepted, by name. */
  readonly accepted = new Map<string, string>();
  readonly #fleet: Fleet;
  readonly #open = new Map<Launch, { waiting: Expected[]; asked: Set<string>; atOnce: number }>();

  constructor(fleet: Fleet) {
    this.#fleet = fleet;
  }

  add(launch: Launch, tasks: Expected[], atOnce: number): void {
    this.#open.set(launch, { waiting: tasks, asked: new Set(), atOnce });
    for (const task of tasks) this.planned.set(task.name, task);
  }

  get isDone(): boolean {
    return [...this.#open.values()].every(({ waiting, asked }) => waiting.length + asked.size === 0);
  }

  /** Launches as many as may be at work, given those that are live now. */
  go(live: ReadonlySet<string>): void {
    for (const [launch, source] of this.#open) {
      for (const name of source.asked) {
        const id = this.accepted.get(name);
        if (id !== undefined && !live.has(id)) source.asked.delete(name);
      }
      while (source.asked.size < source.atOnce) {
        const next = source.waiting.shift();
        if (next === undefined) break;
        source.asked.add(next.name);
        void this.#launch(launch, next).catch(() => {
          source.asked.delete(next.name);
          const again = { ...next, name: `${next.name}b` };
          this.planned.set(again.name, again);
          source.waiting.push(again);
        });
      }
    }
  }

  async #launch(launch: Launch, task: Expected): Promise<void> {
    const prompt = this.#fleet.prompt(task.name, isQuick(task.name));
    this.accepted.set(task.name, await launch(task, prompt));
  }
}

export function byQueue(fleet: Fleet): Launch {
  return ({ name, retries }, prompt) => fleet.enqueue(name, prompt, retries);
}

/** With `queue`, for a runner of that server's machine. */
export function byServer(fleet: Fleet, place: Place<FleetServer>, isQueued: boolean): Launch {
  return async ({ name, retries }, prompt) => {
    const { client } = await place.start();
    const body: LaunchBody = { description: name, prompt, host: fleet.host, directory: fleet.work };
    const queue = isQueued ? { queue: { retry: retries } } : {};
    return (await client.launch({ ...body, ...queue }, AbortSignal.timeout(ANSWER_MS))).id;
  };
}

export function byParent(place: Place<FleetProcess>): Launch {
  return async ({ name }, prompt) => {
    const parent = await place.start();
    parent.tell(JSON.stringify({ name, prompt }));
    const said = await Promise.race([
      parent.said(`launched ${name} `),
      parent.said(`refused ${name} `),
      parent.exited.then(() => ""),
    ]);
    const id = said.split(" ")[2];
    if (!said.startsWith("launched") || id === undefined) throw new Error(said || "it was killed");
    return id;
  };
}
