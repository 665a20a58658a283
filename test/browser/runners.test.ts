/** Runners, and why a task waits for one, in a real Chromium. */
import { expect, onTestFinished, test } from "bun:test";
import { PERSON } from "../../src/engine/launch.ts";
import { enqueueTask } from "../../src/engine/queue/enqueue.ts";
import type { RunnerRecord } from "../../src/store/runners/records.ts";
import { World } from "../engine/engine-bed.ts";
import { startApi } from "../http/bed/api-bed.ts";
import { chromiumBed } from "./page-bed.ts";

const chromium = chromiumBed();

function runner(id: string, fields: Partial<RunnerRecord>): RunnerRecord {
  const offer = { hosts: ["opencode", "claude"], labels: ["gpu"], max: 8, limits: {}, machine: "mac_1" };
  const about = { hostname: "build-1", version: "0.1.0", startedAt: 1, lacks: [] };
  return { id, ...about, ...offer, load: 3, state: "running", ...fields };
}

test("the stats show the runners, and a task says why it waits for one", async () => {
  const world = new World();
  const api = await startApi({ world });
  onTestFinished(async () => {
    await chromium.closePages();
    await world.close();
  });
  const { store, id } = api.side;
  const remote = "git@example.com:shop.git";
  const lacks = [{ kind: "repository", name: remote, reason: "Permission denied (publickey)." } as const];
  await store.runners.put(runner(id, { lacks }));
  await store.runners.put(runner("run_gone", { hostname: "build-2", startedAt: 0 }));
  await store.runners.put(runner("run_ended", { hostname: "build-3", startedAt: -1, state: "ended" }));
  const folder = { directory: "/place/shop", repository: null, bound: "it has uncommitted changes (a.txt)" };
  const request = { description: "Train it", prompt: "x", batch: null, host: "claude", agent: "", folder };
  const parts = { store, now: world.now, newId: (prefix: string) => `${prefix}_1`, machine: "mac_2" };
  const task = await enqueueTask(parts, PERSON, { ...request, choices: { labels: ["gpu"] } });

  const { page, problems } = await chromium.open(`${api.url}/stats`);
  const row = (runnerId: string) => page.locator(`[data-runner="${runnerId}"]`);
  await row(id).waitFor();
  const text = await row(id).textContent();
  for (const part of ["build-1", "running", "3 of 8", "opencode, claude", "gpu", "0.1.0"]) expect(text).toContain(part);
  expect(text).toContain(`lacks the repository ${remote}: Permission denied (publickey).`);
  expect(await row("run_gone").textContent()).toMatch(/build-2.*gone/);
  expect(await row("run_ended").textContent()).toMatch(/build-3.*ended/);
  expect(await row("run_ended").textContent()).not.toContain("3 of 8");
  // It has no event of its own.
  await store.runners.put(runner(id, { load: 5 }));
  await row(id).getByText("5 of 8").waitFor();

  await page.goto(`${api.url}/tasks/${task.id}`);
  await page.getByText("Only a runner on the machine mac_2 can do it").first().waitFor();
  await page.getByText("only the one it was queued on:").waitFor();
  // Tasks of people have no parent either: they are not the children of one without a session.
  expect(await page.getByRole("region", { name: "Family" }).textContent()).not.toContain("Train it");
  await store.runners.put(runner(id, { machine: "mac_2", labels: [] }));
  await page.getByText("No runner with the host claude has the label gpu.").first().waitFor();
  expect(problems).toEqual([]);
}, 60_000);
