/** Quiet hours, and many notifications at once: what is told later is told as one. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { completed, create } from "../../../src/testing/sample-task.ts";
import { allIn, asking, failure, whenStored } from "./events.ts";
import { notifierBed } from "./notifier-bed.ts";
import { receiver } from "./receiver.ts";

// A busy machine needs a while.
setDefaultTimeout(30_000);

describe("quiet hours", () => {
  const quietHours = { from: "22:00", to: "07:00", timeZone: "Europe/Berlin" };
  /** Half past eleven in the evening in Berlin, in winter. */
  const night = Date.parse("2026-01-10T22:30:00Z");
  const HOUR = 3_600_000;

  test("hold everything back but what is urgent, and tell it afterwards as one", async () => {
    const { store, clock, notifier } = await notifierBed(night);
    const [phone, ops] = [receiver(), receiver()];
    const channels = {
      phone: { type: "ntfy", server: phone.url, topic: "mine" },
      ops: { type: "webhook", url: ops.url, quietHours: false },
    } as const;
    const rules = [{}, { kinds: ["needs_you"], channels: ["phone"], urgent: true }] as const;
    await notifier({ channels, rules, quietHours });
    for (const id of ["t1", "t2", "t3"]) await create(store, id);
    await store.apply("t1", completed(clock.now()));
    await store.apply("t2", failure(clock.now()));
    await store.apply("t3", asking(clock.now(), "r1"));
    await Promise.all([phone.has(1), ops.has(3)]);
    const held = await whenStored(store, (all) => allIn("held", 2)(all) && allIn("delivered", 4)(all));
    const ends = held.filter(({ state }) => state === "held").map(({ dueAt }) => dueAt);
    expect(ends).toEqual([Date.parse("2026-01-11T06:00:00Z"), Date.parse("2026-01-11T06:00:00Z")]);
    expect(phone.received.map(({ json }) => json.title)).toEqual(["Needs you: Task t3"]);
    clock.move(7 * HOUR);
    await store.apply("t3", completed(clock.now()));
    await whenStored(store, (all) => allIn("held", 3)(all) && allIn("delivered", 5)(all));
    expect(phone.received).toHaveLength(1);
    clock.move(HOUR);
    await phone.has(2);
    await whenStored(store, (all) => allIn("merged", 3)(all) && allIn("delivered", 6)(all));
    expect(phone.received[1]?.json).toMatchObject({
      title: "3 notifications: 2 finished, 1 failed",
      message: "Finished: Task t1\nFailed: Task t2\nFinished: Task t3",
      tags: ["memo"],
    });
    await create(store, "t4");
    await store.apply("t4", completed(clock.now()));
    await phone.has(3);
    expect(phone.received[2]?.json.title).toBe("Finished: Task t4");
  });

  test("what is alone is told as it is, also by a process that starts later", async () => {
    const { store, clock, notifier } = await notifierBed(night);
    const phone = receiver();
    const channels = { phone: { type: "ntfy", server: phone.url, topic: "mine" } } as const;
    const first = await notifier({ channels, quietHours });
    await create(store, "t1");
    await store.apply("t1", completed(clock.now()));
    await whenStored(store, allIn("held", 1));
    await first.stop();
    clock.move(9 * HOUR);
    await notifier({ channels, quietHours });
    await phone.has(1);
    expect(phone.received.map(({ json }) => json.title)).toEqual(["Finished: Task t1"]);
  });
});

test("more than twenty at once are one summary for people, and each of them for a program", async () => {
  const { store, clock, notifier } = await notifierBed();
  const [phone, ops] = [receiver(), receiver()];
  const channels = {
    phone: { type: "ntfy", server: phone.url, topic: "mine" },
    ops: { type: "webhook", url: ops.url },
  } as const;
  const first = await notifier({ channels });
  await first.stop();
  for (let index = 0; index < 25; index++) {
    await create(store, `t${index}`);
    await store.apply(`t${index}`, completed(clock.now()));
  }
  await notifier({ channels });
  await Promise.all([phone.has(1), ops.has(25)]);
  await whenStored(store, allIn("delivered", 26));
  expect(phone.received.map(({ json }) => json.title)).toEqual(["25 notifications: 25 finished"]);
  expect(phone.received[0]?.json.message).toEndWith("Finished: Task t9\nand 15 more");
  expect(new Set(ops.received.map(({ json }) => json.task.id)).size).toBe(25);
});
