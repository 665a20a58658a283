/** What an agent sends is bounded before it is kept, and read in proportion to its size. */
import { expect, test } from "bun:test";
import { bounded } from "../../../src/hosts/acp/bounded-update.ts";
import { AcpRequests } from "../../../src/hosts/acp/requests.ts";
import { elicitationOf, updateOf } from "../../../src/hosts/acp/wire.ts";

test("what is kept of an update is bounded in length, number and depth", () => {
  let deep: unknown = "x".repeat(1_000_000);
  for (let depth = 0; depth < 30; depth++) deep = { deep };
  const rawInput = { deep, list: Array(100_000).fill("y"), text: "z".repeat(1_000_000) };
  const kept = JSON.stringify(bounded(updateOf({ sessionUpdate: "tool_call", toolCallId: "c", rawInput })));
  expect(kept.length).toBeLessThan(540_000);
  expect(kept).toContain("475712 characters cut");
});

test("an id of any length is none", () => {
  expect(updateOf({ sessionUpdate: "tool_call", toolCallId: "c".repeat(1_001) })?.toolCallId).toBeUndefined();
  expect(updateOf({ sessionUpdate: "tool_call", toolCallId: "c".repeat(1_000) })?.toolCallId).toHaveLength(1_000);
});

test("a form with any number of fields is read at once", async () => {
  const names = Array.from({ length: 20_000 }, (_, index) => `field_${index}_custom`);
  const properties = Object.fromEntries(names.map((name) => [name, { type: "string", title: "?" }]));
  const run = {
    sessionId: "s",
    directory: "/",
    asked: () => {},
    answered: () => {},
    unasked: () => {},
    reject: async () => {},
    toolName: () => "tool",
    asksInPermissions: false,
  };
  const requests: AcpRequests = new AcpRequests((event) => {
    if (event.type !== "session.asked") return;
    queueMicrotask(() => requests.answer("s", event.requestId, { kind: "question", answers: ["yes"] }));
  });
  const from = process.cpuUsage();
  const asked = elicitationOf({ mode: "form", requestedSchema: { properties } });
  expect(await requests.question(run, asked, new AbortController().signal)).toMatchObject({ action: "accept" });
  expect(process.cpuUsage(from).user).toBeLessThan(2_000_000);
});
