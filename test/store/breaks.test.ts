import { expect, test } from "bun:test";
import { SerialQueue } from "../../src/process/serial-queue.ts";
import { breaks } from "../../src/store/sqlite/breaks.ts";

test("the event loop runs between pieces of work that never yield", async () => {
  const queue = new SerialQueue();
  const breakIfDue = breaks();
  let turns = 0;
  const timer = setInterval(() => turns++, 1);
  const block = async () => {
    await breakIfDue();
    for (const end = performance.now() + 4; performance.now() < end; );
  };
  await Promise.all(Array.from({ length: 20 }, () => queue.run(block)));
  clearInterval(timer);
  expect(turns).toBeGreaterThan(0);
});
