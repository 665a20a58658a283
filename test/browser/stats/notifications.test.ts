/** Channels for notifications, and one that was not delivered, in a real Chromium. */
import { expect, onTestFinished, test } from "bun:test";
import { completed, create } from "../../../src/testing/sample-task.ts";
import { World } from "../../engine/engine-bed.ts";
import { allIn, whenStored } from "../../engine/notifications/events.ts";
import { notifierBed } from "../../engine/notifications/notifier-bed.ts";
import { receiver } from "../../engine/notifications/receiver.ts";
import { startApi } from "../../http/bed/api-bed.ts";
import { chromiumBed } from "../page-bed.ts";

const chromium = chromiumBed();

test("the stats show the channels and what was not delivered, and try it again on a click", async () => {
  const { store, clock, notifier } = await notifierBed();
  const hook = receiver(() => new Response(null, { status: 500 }));
  const own = await notifier({
    channels: {
      ops: { type: "webhook", url: `${hook.url}/secret-path` },
      lost: { type: "slack", url: "env:NOT_SET" },
    },
    rules: [{ channels: ["ops"] }],
  });
  await create(store, "t1", { description: "Fix\u202ethe <b>build</b>" });
  await store.apply("t1", completed(clock.now()));
  for (let tries = 1; tries <= 10; tries++) {
    await whenStored(store, ([row]) => row?.attempts === tries && row.reason !== null && row.dueAt !== row.createdAt);
    await whenStored(store, ([row]) => row?.state === "failed" || (row?.dueAt ?? 0) > clock.now());
    clock.move(3_600_000);
  }
  await whenStored(store, allIn("failed", 1));
  const world = new World();
  const api = await startApi({ world, notifier: own, store: () => ({ notifications: store.notifications }) });
  onTestFinished(async () => {
    await chromium.closePages();
    await world.close();
  });
  const { page, problems } = await chromium.open(`${api.url}/stats`);
  const section = page.getByRole("region", { name: "Notifications" });
  await section.waitFor();
  const text = (await section.textContent()) ?? "";
  expect(text).toContain(`webhook at ${hook.url}`);
  expect(text).not.toContain("secret-path");
  expect(text).toContain("0 pending, 0 held, 1 failed");
  expect(text).toContain("cannot be used: the environment variable NOT_SET is not set for this process");
  expect(text).toContain("not delivered to ops in 10 tries: the receiver answered 500");
  expect(text).toContain("<b>build</b>");
  const before = hook.received.length;
  hook.answer = () => new Response("ok");
  await section.getByRole("button", { name: "Try again" }).click();
  await hook.has(before + 1);
  await section.getByText("0 pending, 0 held, 0 failed").first().waitFor();
  expect(problems).toEqual([]);
}, 90_000);
