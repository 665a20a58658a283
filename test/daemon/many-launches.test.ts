import { expect, onTestFinished, test } from "bun:test";
import { join } from "node:path";
import { findDaemon } from "../../src/daemon/find-daemon.ts";
import { openStore } from "../../src/store/open.ts";
import type { FeedEntry, Store } from "../../src/store/store.ts";
import { cliWorld } from "../cli/cli-bed.ts";

const MODELS = Array.from({ length: 5 }, (_, index) => `p/m${index}`);
const LIMITS = ["total=8", ...MODELS.map((model) => `model:${model}=2`)].flatMap((limit) => ["--limit", limit]);
const EACH = 100;
const ENDS = ["run.completed", "run.failed", "run.cancelled"];

async function feedOf(store: Store): Promise<FeedEntry[]> {
  const found: FeedEntry[] = [];
  for (;;) {
    const page = await store.feed(found.at(-1)?.seq ?? 0, 1_000);
    if (page.length === 0) return found;
    found.push(...page);
  }
}

test("200 launches at once from two processes, for two runners: never more than 8, or 2 of a model, in order, and all end right", async () => {
  const world = cliWorld();
  await world.cli("up");
  const { url = "", token = "" } = findDaemon(world.data) ?? {};
  const runners = [1, 2].map(() => world.start(["runner", "--hosts", "scripted", "--max", "20", ...LIMITS]));
  const launcher = join(import.meta.dir, "launcher.ts");
  const launchers = ["a", "b"].map((name) =>
    Bun.spawn([process.execPath, launcher, url, token, world.work, name, String(EACH)], { env: world.environment }),
  );
  const processes = [...launchers, ...runners.map((each) => each.process)];
  onTestFinished(async () => {
    for (const each of processes) if (each.exitCode === null) each.kill("SIGKILL");
    await Promise.all(processes.map(({ exited }) => exited));
  });
  const store = await openStore({ directory: world.data, address: undefined, log: () => {} });
  onTestFinished(() => store.close());
  expect(await Promise.all(launchers.map(({ exited }) => exited))).toEqual([0, 0]);
  const isDone = async () => (await store.tasks({ status: ["running", "resumed"], limit: 1 })).tasks.length === 0;
  const done = Promise.withResolvers<void>();
  const look = () => void isDone().then((is) => is && done.resolve(), done.reject);
  const stop = store.onChange(look);
  look();
  await done.promise.finally(stop);

  const models = new Map<string, string>();
  const [waiting, atWork] = [new Map<string, string[]>(), new Set<string>()];
  const most = { total: 0, model: 0, overtaken: 0 };
  for (const { taskId, event } of await feedOf(store)) {
    const model = event.type === "task.created" ? (event.task.model ?? "") : (models.get(taskId) ?? "");
    const line = waiting.get(model) ?? [];
    if (event.type === "task.created") {
      models.set(taskId, model);
      waiting.set(model, [...line, taskId]);
    } else if (event.type === "task.claimed") {
      most.overtaken = Math.max(most.overtaken, line.indexOf(taskId));
      waiting.set(
        model,
        line.filter((id) => id !== taskId),
      );
      atWork.add(taskId);
      most.total = Math.max(most.total, atWork.size);
      most.model = Math.max(most.model, [...atWork].filter((id) => models.get(id) === model).length);
    } else if (ENDS.includes(event.type)) atWork.delete(taskId);
  }
  expect(models.size).toBe(2 * EACH);
  expect(most).toMatchObject({ total: 8, model: 2 });
  // Of two that were claimed in order, the second may begin first.
  expect(most.overtaken).toBeLessThanOrEqual(1);
  expect([...waiting].sort()).toEqual(MODELS.map((model) => [model, []]));
  for (const id of models.keys()) {
    const task = await store.task(id);
    expect(task).toMatchObject({ status: "completed", run: { result: task?.description } });
  }
}, 300_000);
