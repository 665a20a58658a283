import { describe, expect, test } from "bun:test";
import { BoundedStream } from "../../../src/claude/session/bounded-stream.ts";
import { sizeOf } from "../../../src/claude/session/size-of.ts";
import { RecentKeys } from "../../../src/claude/tasks/recent-keys.ts";
import { collect } from "../claude-bed.ts";

describe("a stream", () => {
  const describeLoss = ({ count, bytes }: { count: number; bytes: number }) => `lost ${count} of ${bytes} bytes`;

  test("yields what was pushed before and during reading, and what was waiting when it ended", async () => {
    const stream = new BoundedStream<number>(10);
    stream.push(1);
    const reading = collect(stream);
    await Bun.sleep(1);
    stream.push(2);
    stream.end();
    stream.push(3);
    expect(await reading).toEqual([1, 2]);
  });

  test("keeps up to its limit of items, and reports a loss once", async () => {
    const stream = new BoundedStream<string>(2, { describeLoss });
    for (const item of ["a", "b", "c", "d"]) stream.push(item);
    expect(await stream.next()).toEqual({ done: false, value: "lost 2 of 0 bytes" });
    expect(await stream.next()).toEqual({ done: false, value: "c" });
    stream.end();
    expect(await collect(stream)).toEqual(["d"]);
  });

  test("keeps up to its limit of bytes, and always the newest item", async () => {
    const one = sizeOf("x".repeat(100));
    const stream = new BoundedStream<string>(10, { describeLoss, bytes: 2 * one });
    for (const letter of ["a", "b", "c"]) stream.push(letter.repeat(100));
    expect((await stream.next()).value).toBe(`lost 1 of ${one} bytes`);
    expect((await stream.next()).value).toBe("b".repeat(100));
    // Reading makes room again.
    stream.push("d".repeat(100));
    expect((await stream.next()).value).toBe("c".repeat(100));
    stream.push("e".repeat(1_000));
    expect((await stream.next()).value).toBe(`lost 1 of ${one} bytes`);
    stream.end();
    expect(await collect(stream)).toEqual(["e".repeat(1_000)]);
  });

  test("throws the error after the waiting items, once, and reports when the reader leaves", async () => {
    let closed = 0;
    const stream = new BoundedStream<number>(10, { onClosed: () => closed++ });
    stream.push(1);
    stream.fail(new Error("gone"));
    expect((await stream.next()).value).toBe(1);
    expect(await stream.next().catch((thrown) => thrown.message)).toBe("gone");
    expect(await stream.next()).toEqual({ done: true, value: undefined });
    stream.push(2);
    expect(await stream.return()).toEqual({ done: true, value: undefined });
    expect([closed, await collect(stream)]).toEqual([1, []]);
  });
});

test("the size of a value follows its texts and its fields", () => {
  expect(sizeOf("x".repeat(1_000)) - sizeOf("")).toBe(1_000);
  expect(sizeOf({ name: ["x".repeat(500), { deep: "y".repeat(500) }], none: null })).toBeGreaterThan(1_000);
  expect(sizeOf({ a: 1, b: true, c: undefined })).toBeLessThan(200);
});

test("recent keys are forgotten in order of arrival, and a known key is not new", () => {
  const keys = new RecentKeys<number>(2);
  expect([keys.add("a", 1), keys.add("b", 2), keys.add("a", 3)]).toEqual([true, true, false]);
  expect(keys.get("a")).toBe(3);
  expect([keys.add("c", 4), keys.get("a"), keys.get("b"), keys.get("c")]).toEqual([true, undefined, 2, 4]);
});
