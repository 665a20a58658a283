/** The part of the store suite about steering messages: each step once, and the end of a run settles what is open. */
import { expect, test } from "bun:test";
import { BEGAN_AGAIN, ENDED_FIRST, MAX_STEERING } from "../../../model/steering.ts";
import type { Store } from "../../../store/store.ts";
import { completed, create, resumed } from "../../sample-task.ts";
import type { StoreBed } from "./store-bed.ts";

const accept = (store: Store, id: string, run = 0, task = "t") =>
  store.apply(task, { type: "steer.accepted", at: 10, run, id, text: `text of ${id}`, by: "me" });

export function steeringStoreSuite({ fresh }: StoreBed): void {
  test("a message goes from accepted to sent to delivered, each once and each an event, and its task stays", async () => {
    const store = await fresh();
    await create(store, "t");
    const task = await store.task("t");
    expect((await accept(store, "a")).changed).toBe(true);
    expect(await accept(store, "a")).toMatchObject({ changed: false, reason: "no_change" });
    const sent = { type: "steer.sent", at: 20, run: 0, id: "a", messageId: "msg_1" } as const;
    const delivered = { type: "steer.delivered", at: 30, run: 0, id: "a" } as const;
    expect((await store.apply("t", delivered)).changed).toBe(false);
    expect((await store.apply("t", sent)).changed).toBe(true);
    expect((await store.apply("t", { ...sent, messageId: "msg_2" })).changed).toBe(false);
    expect((await store.apply("t", { type: "steer.cancelled", at: 25, run: 0, id: "a", by: "me" })).changed).toBe(
      false,
    );
    expect((await store.apply("t", delivered)).changed).toBe(true);
    expect(await store.steeringMessage("a")).toEqual({
      id: "a",
      taskId: "t",
      run: 0,
      text: "text of a",
      by: "me",
      state: "delivered",
      messageId: "msg_1",
      reason: null,
      acceptedAt: 10,
      sentAt: 20,
      settledAt: 30,
    });
    const events = (await store.feed(0)).map(({ event }) => event.type).filter((type) => type.startsWith("steer."));
    expect(events).toEqual(["steer.accepted", "steer.sent", "steer.delivered"]);
    expect(await store.task("t")).toEqual(task);
  });

  test("the end of a run fails what it did not take up, with the reason; another task's is left alone", async () => {
    const store = await fresh();
    await create(store, "t");
    await create(store, "other");
    for (const id of ["held", "sent", "gone"]) await accept(store, id);
    await accept(store, "elsewhere", 0, "other");
    await store.apply("t", { type: "steer.sent", at: 20, run: 0, id: "sent", messageId: "msg_1" });
    await store.apply("t", { type: "steer.cancelled", at: 21, run: 0, id: "gone", by: "me" });
    await store.apply("t", completed(30));
    expect(
      (await store.steering("t")).map(({ id, state, reason, settledAt }) => [id, state, reason, settledAt]),
    ).toEqual([
      ["held", "failed", ENDED_FIRST.accepted, 30],
      ["sent", "failed", ENDED_FIRST.sent, 30],
      ["gone", "cancelled", "me", 21],
    ]);
    expect((await store.steeringMessage("elsewhere"))?.state).toBe("accepted");
    expect(await accept(store, "late")).toMatchObject({ changed: false, reason: "ended" });
    await store.apply("t", resumed(40));
    expect(await accept(store, "late")).toMatchObject({ changed: false, reason: "stale_run" });
    await accept(store, "next", 1);
    expect((await store.steering("t", 1)).map(({ id }) => id)).toEqual(["next"]);
    expect((await store.steering("t")).map(({ id }) => id)).toEqual(["held", "sent", "gone", "next"]);
  });

  test("a run that begins again keeps what was not sent", async () => {
    const store = await fresh();
    await create(store, "t");
    for (const id of ["held", "sent"]) await accept(store, id);
    await store.apply("t", { type: "steer.sent", at: 20, run: 0, id: "sent", messageId: "msg_1" });
    const { progress } = (await store.task("t")) ?? {};
    if (progress === undefined) throw new Error("no task");
    await store.apply("t", { type: "run.requeued", at: 30, run: 0, reason: "its runner died", progress });
    expect((await store.steering("t", 0)).map(({ state, reason }) => [state, reason])).toEqual([
      ["accepted", null],
      ["failed", BEGAN_AGAIN],
    ]);
  });

  test("a run takes a limited number of messages, in their order", async () => {
    const store = await fresh();
    await create(store, "t");
    for (let number = 0; number < MAX_STEERING; number++) await accept(store, `m${99 - number}`);
    expect(accept(store, "one too many")).rejects.toMatchObject({ code: "too_many_requests" });
    expect((await store.steering("t", 0)).slice(0, 2).map(({ id }) => id)).toEqual(["m99", "m98"]);
  });
}
