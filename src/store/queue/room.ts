/** How many more runs fit within the limits of the queue, while claims are being made. Pure. */
import type { QueueLimits, RunNeeds } from "./run-queue.ts";

type Counted = Pick<RunNeeds, "host" | "model" | "labels">;

export class Room {
  readonly #limits: QueueLimits;
  readonly #counts = new Map<string, number>();

  constructor(limits: QueueLimits, atWork: Iterable<readonly [Counted, number]>) {
    this.#limits = limits;
    for (const [line, runs] of atWork) this.add(line, runs);
  }

  add(line: Counted, runs: number): void {
    for (const { name } of this.#limitsOf(line)) this.#counts.set(name, (this.#counts.get(name) ?? 0) + runs);
  }

  for(line: Counted): number {
    const left = this.#limitsOf(line).map(({ name, limit }) => limit - (this.#counts.get(name) ?? 0));
    return Math.min(Number.POSITIVE_INFINITY, ...left);
  }

  /** A limit that leaves no room for such a run, as the runner's option says it; null if there is room. */
  reached(line: Counted): string | null {
    const found = this.#limitsOf(line).find(({ name, limit }) => limit <= (this.#counts.get(name) ?? 0));
    return found === undefined ? null : `${found.name}=${found.limit}`;
  }

  #limitsOf({ host, model, labels }: Counted): { name: string; limit: number }[] {
    const { total, hosts, models, labels: perLabel } = this.#limits;
    const limit = (name: string, value: number | undefined) => (value === undefined ? [] : [{ name, limit: value }]);
    return [
      ...limit("total", total),
      ...limit(`host:${host}`, own(hosts, host)),
      ...(model === null ? [] : limit(`model:${model}`, own(models, model))),
      ...labels.flatMap((label) => limit(`label:${label}`, own(perLabel, label))),
    ];
  }
}

function own(limits: Readonly<Record<string, number>> | undefined, name: string): number | undefined {
  return limits !== undefined && Object.hasOwn(limits, name) ? limits[name] : undefined;
}
