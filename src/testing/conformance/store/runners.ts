/** The part of the store suite about what runners say of themselves. See `store-conformance.ts`. */
import { expect, test } from "bun:test";
import type { RunnerRecord } from "../../../store/runners/records.ts";
import type { StoreBed } from "./store-bed.ts";

function runner(id: string, fields: Partial<RunnerRecord> = {}): RunnerRecord {
  return {
    id,
    machine: "mac_1",
    hostname: "build-1",
    version: "1.2.3",
    hosts: ["opencode"],
    labels: ["gpu"],
    max: 4,
    limits: { total: 9, hosts: { opencode: 3 } },
    load: 0,
    lacks: [],
    state: "running",
    startedAt: 5,
    ...fields,
  };
}

export function runnersSuite(bed: StoreBed): void {
  test("runners are listed as they described themselves last, newest start first, with the time since then", async () => {
    const store = await bed.fresh();
    expect(await store.runners.list()).toEqual([]);
    await store.runners.put(runner("a"));
    await store.runners.put(runner("b", { startedAt: 6, machine: "" }));
    const lacks = [{ kind: "repository", name: "git@example.com:a.git", reason: "no key" } as const];
    const changed = runner("a", { load: 3, lacks, state: "draining", limits: {} });
    await store.runners.put(changed);
    const [first, second, ...others] = await store.runners.list();
    expect(others).toEqual([]);
    expect(first).toMatchObject({ id: "b", startedAt: 6 });
    const { seenAgo = -1, ...rest } = second ?? {};
    expect(rest).toEqual(changed);
    expect(seenAgo >= 0 && seenAgo < 60_000).toBe(true);
  });
}
