import { expect, test } from "bun:test";
import { Changes } from "../../src/engine/changes.ts";
import { create } from "../../src/testing/sample-task.ts";
import { newWorld } from "./engine-bed.ts";

test("what was stopped with a read ahead of it begins again where the feed is then", async () => {
  const { store } = await newWorld().side({ started: false });
  const log = { info() {}, error: (message: string) => expect(message).toBe("") };
  const changes = new Changes(store, log, 20);
  await changes.start();
  const noticed = new Promise<void>((resolve) => {
    const stop = store.onChange(() => resolve(stop()));
  });
  await create(store, "before");
  // From here on a read is due in a moment.
  await noticed;
  changes.stop();
  await changes.start();
  const heard = new Promise<string[]>((resolve) => {
    changes.onEntries((entries) => resolve(entries.map(({ taskId }) => taskId)));
  });
  await create(store, "after");
  expect(await heard).toEqual(["after"]);
  changes.stop();
});
