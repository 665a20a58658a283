/** One serial queue per key, kept only while it has work. Calls with different keys do not wait for each other. */
import { SerialQueue } from "./serial-queue.ts";

export class KeyedQueue {
  readonly #queues = new Map<string, SerialQueue>();

  /** How many keys have work. */
  get size(): number {
    return this.#queues.size;
  }

  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const queue = this.#queues.get(key) ?? new SerialQueue();
    this.#queues.set(key, queue);
    try {
      return await queue.run(work);
    } finally {
      if (queue.isEmpty) this.#queues.delete(key);
    }
  }
}
