import { describe, expect, test } from "bun:test";
import { TaskManager } from "../../../src/claude/tasks/task-manager.ts";
import { collect } from "../claude-bed.ts";
import { listed, notified, recorded, started, updated } from "../messages/sample-messages.ts";
import { ends, fed } from "./tracked-messages.ts";

describe("the end of a run", () => {
  test("is decided by the first message, and reported once", () => {
    expect(
      ends([
        started("a", "1"),
        updated("a", "1", { status: "killed" }),
        notified("a", "1", { status: "failed" }),
        notified("a", "1"),
        updated("a", "1", { status: "completed" }),
      ]),
    ).toEqual(["a stopped"]);
  });

  test("is reported without a notification if none comes, and a failing handler does no harm", async () => {
    let calls = 0;
    const manager = new TaskManager({
      notificationWait: 20,
      onTaskNotification() {
        calls++;
        throw new Error("handler");
      },
    });
    const events = manager.events();
    manager.track(started("a", "1"));
    manager.track(updated("a", "1", { status: "failed", error: "API Error: 400" }));
    expect(manager.get("a").status()).toBe("failed");
    expect(await manager.wait("a")).toMatchObject({ status: "failed", summary: "API Error: 400" });
    manager.track(notified("a", "1", { status: "failed", summary: "late" }));
    expect([calls, manager.get("a").summary()]).toEqual([1, "late"]);
    manager.close();
    const types = (await collect(events)).map(({ type }) => type);
    expect(types).toEqual(["task.started", "task.updated", "task.ended", "handler.failed"]);
  });

  test("is reported to a handler that rejects later, with no effect but an event", async () => {
    const error = new Error("handler");
    const manager = new TaskManager({ onTaskNotification: () => Promise.reject(error) });
    const events = manager.events();
    manager.track(started("a", "1"));
    manager.track(notified("a", "1"));
    for await (const event of events) {
      if (event.type !== "handler.failed") continue;
      expect(event).toEqual({ type: "handler.failed", handler: "onTaskNotification", error });
      break;
    }
  });

  test("adds facts that the start did not have, and keeps those it had", () => {
    const manager = fed([notified("a", "1", { tool_use_id: "toolu_1", ambient: true }), started("b", "1")]);
    expect([manager.get("a").toolUseId, manager.get("a").isAmbient]).toEqual(["toolu_1", true]);
    expect([manager.get("b").isAmbient, manager.get("b").isBackground]).toEqual([false, true]);
    manager.track(notified("b", "1"));
    expect(manager.get("b").toolUseId).toBe("toolu_b");
  });

  test("is not reported to the handler for a foreground task", () => {
    expect(ends(recorded.get("foreground-agent") ?? [])).toEqual([]);
    const moved = [
      started("a", "1", { is_backgrounded: false }),
      updated("a", "1", { is_backgrounded: true }),
      notified("a", "1"),
    ];
    expect(ends(moved)).toEqual(["a completed"]);
  });

  test("is lost for all live tasks when the process ends, and for no others", async () => {
    const manager = fed([started("a", "1"), notified("a", "1"), started("b", "1"), started("c", "1")]);
    const waits = [manager.wait("b"), manager.wait("c")];
    manager.track(updated("c", "1", { status: "completed" }));
    manager.processEnded("killed by SIGKILL");
    const [b, c] = await Promise.all(waits);
    expect(b).toMatchObject({ status: "lost", reason: "killed by SIGKILL" });
    expect(c?.status).toBe("completed");
    expect(manager.get("a").status()).toBe("completed");
    manager.track(notified("b", undefined, { status: "stopped" }));
    expect(manager.get("b").status()).toBe("lost");
  });

  test("is lost if a task leaves the list of background tasks without a message", async () => {
    const manager = new TaskManager({ listWait: 20 });
    for (const message of [listed(["a", "1"], ["b", "1"]), listed(["b", "1"])]) manager.track(message);
    expect((await manager.wait("a")).status).toBe("lost");
    expect(manager.get("b").status()).toBe("");
    manager.close();
  });
});

test("a list that is repeated later loses no task", async () => {
  const manager = new TaskManager({ listWait: 20 });
  const early = listed(["a", "1"]);
  for (const message of [early, listed(["a", "1"], ["b", "1"]), early]) manager.track(message);
  await Bun.sleep(60);
  expect(manager.list().map((task) => task.status())).toEqual(["", ""]);
  manager.close();
});

test("a task that returns to the list in time is not lost", async () => {
  const manager = new TaskManager({ listWait: 20 });
  for (const message of [listed(["a", "1"]), listed(), listed(["a", "1"])]) manager.track(message);
  await Bun.sleep(60);
  expect(manager.get("a").status()).toBe("");
  manager.close();
});

test("a listed task is in the background, whatever its start said, and so is an unknown one", () => {
  expect(ends([started("a", "1", { is_backgrounded: false }), listed(["a", "1"]), notified("a", "1")])).toEqual([
    "a completed",
  ]);
  expect(fed([notified("b", "1")]).get("b").isBackground).toBe(true);
});
