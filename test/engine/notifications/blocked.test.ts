import { expect, test } from "bun:test";
import { PERSON } from "../../../src/engine/launch.ts";
import { enqueueTask } from "../../../src/engine/queue/enqueue.ts";
import { create } from "../../../src/testing/sample-task.ts";
import { failure } from "./events.ts";
import { notifierBed } from "./notifier-bed.ts";
import { receiver } from "./receiver.ts";

const NEXT = {
  description: "Next",
  prompt: "go on",
  batch: null,
  limits: {},
  host: "scripted",
  agent: "explore",
  folder: { directory: "/repo", repository: null, bound: null },
  isOnlyHere: true,
  choices: {},
};

test("a task that cannot start without a decision of a person is told", async () => {
  const { store, clock, notifier } = await notifierBed();
  const hook = receiver();
  await notifier({ channels: { ops: { type: "webhook", url: hook.url } }, rules: [{ kinds: ["needs_you"] }] });
  const at = clock.now();
  await create(store, "first", { parentSessionId: "" });
  const after = { tasks: ["first"], ifFailed: "wait" } as const;
  await enqueueTask({ store, machine: "", now: () => at, newId: (prefix) => `${prefix}_next` }, PERSON, {
    ...NEXT,
    after,
  });
  await store.apply("first", failure(at));
  await hook.has(1);
  expect(hook.received[0]?.json).toMatchObject({
    kind: "needs_you",
    title: "Needs you: Next",
    task: { id: "tsk_next" },
  });
  expect(hook.received[0]?.json.text).toContain("first");
});
