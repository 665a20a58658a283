import { expect, test } from "bun:test";
import { messageIds } from "../../src/process/message-ids.ts";

test("message ids are UUIDs of version 7 that rise, also within a millisecond and when the clock is set back", () => {
  let clock = 1_700_000_000_000;
  const next = messageIds(() => clock);
  const ids = Array.from({ length: 5_000 }, next);
  clock -= 60_000;
  ids.push(next());
  clock += 120_000;
  ids.push(next());
  expect(ids.toSorted()).toEqual(ids);
  expect(new Set(ids).size).toBe(ids.length);
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(Number.parseInt((ids[0] ?? "").replace("-", "").slice(0, 12), 16)).toBe(1_700_000_000_000);
});
