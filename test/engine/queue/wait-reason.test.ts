import { describe, expect, test } from "bun:test";
import type { FleetRunner } from "../../../src/engine/queue/fleet.ts";
import { folderReason, waitReason } from "../../../src/engine/queue/wait-reason.ts";
import type { RunNeeds, WaitingRun } from "../../../src/store/queue/run-queue.ts";
import { sampleInstance } from "../../../src/testing/sample-instance.ts";

const REMOTE = "git@example.com:shop.git";

function run(fields: Partial<WaitingRun> = {}): WaitingRun {
  const needs = { host: "claude", model: "p/m", labels: ["gpu"], machine: null, remote: REMOTE };
  const rest = { taskId: "t", priority: 0, retries: 0, source: null, bound: null, limits: {} };
  return { ...needs, ...rest, isHeld: false, isClaimed: false, trouble: null, ...fields };
}

function runner(fields: Partial<FleetRunner> = {}): FleetRunner {
  const offer = { hosts: ["claude", "opencode"], labels: ["gpu", "eu"], max: 2, limits: {}, machine: "mac_1" };
  const about = { id: "run_1", hostname: "one", version: "1", startedAt: 1, seenAgo: 1 };
  return { ...about, ...offer, load: 0, lacks: [], state: "running", ...fields };
}

const AT_WORK: [RunNeeds, number][] = [
  [{ host: "claude", model: "p/m", labels: ["gpu"], machine: null, remote: null }, 2],
  [{ host: "opencode", model: null, labels: [], machine: null, remote: null }, 3],
];

describe("why a task waits for a runner", () => {
  test("a runner that can do it and has room is about to begin it", () => {
    expect(waitReason(run(), [runner()], [])).toBe(null);
    expect(waitReason(run({ isClaimed: true }), [], [])).toBe(null);
    expect(waitReason(run({ machine: "mac_1" }), [runner({ machine: "mac_2" }), runner()], [])).toBe(null);
  });

  test("no runner lives", () => {
    const dead = (["gone", "ended", "draining"] as const).map((state) => runner({ state }));
    const reason = "No runner is running. Start one: asyncagents runner --hosts claude --label gpu";
    for (const all of [[], dead]) expect(waitReason(run(), all, [])).toBe(reason);
  });

  test("the only machine that can do it has no runner", () => {
    const bound = run({ machine: "mac_2", bound: "it has uncommitted changes (a.txt); commit and push them" });
    const reason = waitReason(bound, [runner(), runner({ machine: "mac_2", hostname: "two", state: "gone" })], []);
    expect(reason).toStartWith(
      "Only a runner on the machine two (mac_2) can do it: it has uncommitted changes (a.txt); ",
    );
    expect(reason).toContain(
      "push them. None is running there. Start one there: asyncagents runner --hosts claude --label gpu",
    );
    expect(waitReason(bound, [runner()], [])).toContain("on the machine mac_2 can");
  });

  test("no runner has the host, or all labels", () => {
    expect(waitReason(run(), [runner({ hosts: ["opencode"] })], [])).toStartWith("No runner has the host claude.");
    const halves = [runner({ labels: ["eu"] }), runner({ labels: ["gpu"], hosts: ["opencode"] })];
    expect(waitReason(run(), halves, [])).toStartWith("No runner with the host claude has the label gpu.");
    expect(waitReason(run({ labels: ["a", "b"] }), [runner()], [])).toContain("has the labels a, b.");
  });

  test("no runner can get its repository, or open its host", () => {
    const lacks = [{ kind: "repository", name: REMOTE, reason: "no key" } as const];
    expect(waitReason(run({ trouble: "one: no key" }), [runner({ lacks })], [])).toEndWith("minutes. one: no key");
    expect(waitReason(run(), [runner({ lacks })], [])).toEndWith("one: no key");
    expect(waitReason(run(), [runner({ lacks }), runner()], [])).toBe(null);
    expect(waitReason(run({ remote: "another" }), [runner({ lacks })], [])).toBe(null);
    const host = [{ kind: "host", name: "claude", reason: "not installed" } as const];
    expect(waitReason(run(), [runner({ lacks: host })], [])).toEndWith("one: not installed");
  });

  test("a limit is reached, or all are busy", () => {
    const limited = (limits: FleetRunner["limits"]) => waitReason(run(), [runner({ limits })], AT_WORK);
    expect(limited({ total: 5 })).toBe("A limit of the runners is reached: total=5.");
    expect(limited({ total: 6, hosts: { claude: 2 } })).toContain("host:claude=2");
    expect(limited({ models: { "p/m": 2 }, labels: { gpu: 3 } })).toContain("model:p/m=2");
    expect(limited({ labels: { gpu: 1 } })).toContain("label:gpu=1");
    expect(limited({ total: 6, hosts: { opencode: 1 } })).toBe(null);
    const busy = [runner({ load: 2 }), runner({ limits: { total: 1 } }), runner({ load: 3, hostname: "two" })];
    expect(waitReason(run(), busy, AT_WORK)).toContain("are busy (one: 2 of 2, two: 3 of 2)");
    expect(waitReason(run(), [...busy, runner()], AT_WORK)).toBe(null);
  });
});

test("a task that is bound to a folder waits for a program that has it open, or opens it", () => {
  const bound = run({ machine: "mac_1", directory: "/shop" });
  const near = { ...sampleInstance("one"), machine: "mac_1" };
  const reason = "It starts when a program has /shop open on the machine mac_1. Open the agent there";
  expect(folderReason(bound, [])).toStartWith(reason);
  expect(folderReason(bound, [{ ...near, directory: "/else" }])).toStartWith(reason);
  expect(folderReason(bound, [{ ...near, machine: "mac_2", directory: "/shop" }])).toStartWith(reason);
  expect(folderReason(bound, [{ ...near, directory: "/shop" }])).toBe(null);
  expect(folderReason(bound, [{ ...near, host: "daemon" }])).toBe(null);
  expect(folderReason({ ...bound, isHeld: true }, [])).toBe(null);
  expect(waitReason({ ...bound, isHeld: true }, [], [])).toBe("It starts after other tasks.");
});
