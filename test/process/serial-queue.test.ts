import { describe, expect, test } from "bun:test";
import { KeyedQueue } from "../../src/process/keyed-queue.ts";
import { SerialQueue } from "../../src/process/serial-queue.ts";

const turnOfTheLoop = () => new Promise<void>((resolve) => setImmediate(() => resolve()));

describe("a serial queue", () => {
  test("runs one piece of work at a time, in the order of the calls", async () => {
    const queue = new SerialQueue();
    const seen: string[] = [];
    const work = (name: string) => async () => {
      seen.push(`${name} begins`);
      await turnOfTheLoop();
      seen.push(`${name} ends`);
      return name;
    };
    expect(await Promise.all(["a", "b", "c"].map((name) => queue.run(work(name))))).toEqual(["a", "b", "c"]);
    expect(seen).toEqual(["a begins", "a ends", "b begins", "b ends", "c begins", "c ends"]);
  });

  test("continues after failed work, and reports the failure to its caller only", async () => {
    const queue = new SerialQueue();
    const failed = queue.run(() => Promise.reject(new Error("no")));
    const next = queue.run(async () => "yes");
    await expect(failed).rejects.toThrow("no");
    expect(await next).toBe("yes");
  });

  test("is idle once everything queued so far has settled", async () => {
    const queue = new SerialQueue();
    const seen: number[] = [];
    for (const number of [1, 2, 3]) void queue.run(async () => void seen.push(number));
    expect(queue.isEmpty).toBe(false);
    await queue.idle();
    expect([seen, queue.isEmpty]).toEqual([[1, 2, 3], true]);
  });
});

describe("a keyed queue", () => {
  test("orders the calls for one key, and does not hold up other keys", async () => {
    const queue = new KeyedQueue();
    const gate = Promise.withResolvers<void>();
    const seen: string[] = [];
    const first = queue.run("a", async () => {
      await gate.promise;
      seen.push("first a");
    });
    const second = queue.run("a", async () => void seen.push("second a"));
    await queue.run("b", async () => void seen.push("b"));
    gate.resolve();
    await first;
    await second;
    expect(seen).toEqual(["b", "first a", "second a"]);
  });

  test("returns as soon as the caller's own work is done, and keeps no key without work", async () => {
    const queue = new KeyedQueue();
    const gate = Promise.withResolvers<void>();
    const first = queue.run("a", async () => 1);
    const second = queue.run("a", () => gate.promise);
    expect(await first).toBe(1);
    expect(queue.size).toBe(1);
    gate.resolve();
    await second;
    await expect(queue.run("b", () => Promise.reject(new Error("no")))).rejects.toThrow("no");
    expect(queue.size).toBe(0);
  });
});
