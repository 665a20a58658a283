/**
 * Collects changes of different tasks into common transactions, where many writes run at once: while some are under
 * way, those that come meanwhile wait and go together. Nobody waits for more to come. Each change has its own outcome,
 * and what cannot go with others goes alone. A batch that fails as a whole is done again one by one, unless it may have
 * been stored. Knows nothing about rows.
 */
import { AsyncAgentsError } from "../../model/errors.ts";
import type { Transition } from "../../model/transition.ts";
import type { TaskChange } from "./task-change.ts";

const MOST_BATCHES = 4;
const MOST_CHANGES = 100;
/** So many have to wait before another batch begins beside one: earlier, there would only be more and smaller ones. */
const WORTH_A_BATCH = 20;

export interface BatchWrites {
  /** In one transaction. Null for a change that has to go alone: nothing of it is written. */
  together(changes: readonly TaskChange[]): Promise<(Transition | null)[]>;
  alone(change: TaskChange): Promise<Transition>;
}

interface Waiting {
  change: TaskChange;
  settle: PromiseWithResolvers<Transition>;
}

export class ChangeBatches {
  readonly #writes: BatchWrites;
  #waiting: Waiting[] = [];
  #running = 0;

  constructor(writes: BatchWrites) {
    this.#writes = writes;
  }

  apply(change: TaskChange): Promise<Transition> {
    const settle = Promise.withResolvers<Transition>();
    this.#waiting.push({ change, settle });
    this.#next();
    return settle.promise;
  }

  #next(): void {
    while (this.#isNextDue()) {
      const batch = this.#take();
      this.#running++;
      void this.#run(batch).finally(() => {
        this.#running--;
        this.#next();
      });
    }
  }

  #isNextDue(): boolean {
    const waiting = this.#waiting.length;
    return this.#running === 0 ? waiting > 0 : this.#running < MOST_BATCHES && waiting >= WORTH_A_BATCH;
  }

  /** The oldest, and of each task only one: the next one builds on it. */
  #take(): Waiting[] {
    const ids = new Set<string>();
    const taken = this.#waiting.filter(({ change: { id } }) => {
      if (ids.has(id) || ids.size >= MOST_CHANGES) return false;
      ids.add(id);
      return true;
    });
    const isTaken = new Set(taken);
    this.#waiting = this.#waiting.filter((each) => !isTaken.has(each));
    return taken;
  }

  /** Never rejects. */
  async #run(batch: readonly Waiting[]): Promise<void> {
    let alone = batch;
    try {
      const outcomes = await this.#writes.together(batch.map(({ change }) => change));
      alone = batch.filter(({ settle }, index) => {
        const outcome = outcomes[index] ?? null;
        if (outcome !== null) settle.resolve(outcome);
        return outcome === null;
      });
    } catch (thrown) {
      // It may have been stored: whoever asked finds out.
      if (AsyncAgentsError.isInstance(thrown) && thrown.code === "store_unavailable") {
        for (const { settle } of batch) settle.reject(thrown);
        return;
      }
    }
    // Not waited for: a change that waits for a lock does not keep the next batch waiting.
    for (const { change, settle } of alone) this.#writes.alone(change).then(settle.resolve, settle.reject);
  }
}
