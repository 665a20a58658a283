import { expect, test } from "bun:test";
import { LEASE_MS, Lease } from "../../src/engine/recovery/lease.ts";

function leaseWithClocks() {
  const clocks = { awake: 0, wall: 1_000_000 };
  const lease = new Lease({ monotonic: () => clocks.awake, now: () => clocks.wall }, LEASE_MS);
  return { clocks, lease };
}

test("a lease counts from before the heartbeat was sent, and stops before it is over", () => {
  const { clocks, lease } = leaseWithClocks();
  expect(lease.isHeld).toBe(false);
  const renewed = lease.renew();
  clocks.awake += 20_000;
  renewed();
  expect(lease.isHeld).toBe(true);
  clocks.awake += 4_999;
  expect(lease.isHeld).toBe(true);
  clocks.awake += 1;
  expect(lease.isHeld).toBe(false);
});

test("a lease is not held after a sleep that only the wall clock shows, nor after others took it", () => {
  const { clocks, lease } = leaseWithClocks();
  lease.renew()();
  clocks.wall -= 3_600_000;
  expect(lease.isHeld, "a clock that is set back proves nothing").toBe(true);
  clocks.wall += 3_600_000 + LEASE_MS;
  expect(lease.isHeld).toBe(false);
  lease.renew()();
  expect(lease.isHeld).toBe(true);
  lease.lose();
  expect(lease.isHeld).toBe(false);
});

test("whoever waits for a lease goes on with the next renewal that is in time, or when the instance ends", async () => {
  const { clocks, lease } = leaseWithClocks();
  const waited: string[] = [];
  const first = lease.untilHeld().then(() => waited.push("held"));
  const late = lease.renew();
  clocks.awake += LEASE_MS;
  late();
  await Promise.resolve();
  expect(waited).toEqual([]);
  lease.renew()();
  await first;
  expect(waited).toEqual(["held"]);
  lease.lose();
  const second = lease.untilHeld();
  lease.end();
  await second;
  expect(lease.isHeld).toBe(false);
});

test("a lease that was lost begins another term, and one that is only renewed late does not", () => {
  const { clocks, lease } = leaseWithClocks();
  lease.renew()();
  clocks.awake += LEASE_MS;
  expect(lease.isHeld).toBe(false);
  lease.renew()();
  expect([lease.isHeld, lease.term]).toEqual([true, 0]);
  lease.lose();
  lease.renew()();
  expect([lease.isHeld, lease.term]).toEqual([true, 1]);
});
