/** How much models can start over MCP, with a real daemon in its default configuration. */
import { afterAll, expect, test } from "bun:test";
import { createClient } from "../../src/client/client.ts";
import { DaemonBed } from "./daemon-bed.ts";

const bed = await DaemonBed.start({ ASYNCAGENTS_MAX_QUEUED: "100" });
afterAll(() => bed.stop());

test("of 150 concurrent launches 16 run, 100 wait in the queue, and the others are rejected", async () => {
  const model = await bed.stdio();
  const launch = { prompt: "!wait never", executor: "SCRIPTED", directory: bed.root };
  const outcomes = await Promise.allSettled(Array.from({ length: 150 }, () => model.call("launch_task", launch)));
  const refused = outcomes.flatMap((outcome) => (outcome.status === "rejected" ? [String(outcome.reason)] : []));
  expect(refused).toHaveLength(34);
  for (const reason of refused) expect(reason).toMatch(/16 tasks are running and 100 are queued.*too_many_tasks/);
  const client = createClient({ url: bed.url, ...(await bed.token()) });
  const done = new AbortController();
  let phases: (string | null)[] = [];
  // Phases are written a moment after the launch has returned.
  for await (const _ of client.events({ signal: done.signal })) {
    const { tasks } = await client.tasks({ status: ["running"], limit: 200 });
    phases = tasks.map(({ phase }) => phase);
    if (phases.filter((phase) => phase === "queued").length === 100) break;
  }
  done.abort();
  expect(phases.filter((phase) => phase !== "queued")).toHaveLength(16);
}, 60_000);

test("the scripted agent is not offered to models unless the daemon was started with it", async () => {
  const plain = await DaemonBed.start({ ASYNCAGENTS_SCRIPTED: "" });
  try {
    // From a folder in which no host is opened for a model.
    for (const client of [await plain.stdio({ cwd: "/" }), await plain.http()]) {
      const refused = await client.fails("launch_task", {
        prompt: "!say x",
        executor: "scripted",
        directory: plain.root,
      });
      expect(refused).toMatchObject({
        code: "invalid_argument",
        error: expect.stringContaining("Use one of OPENCODE, CLAUDE_CODE, ACP;"),
      });
      const { executors } = await client.call("list_executors", {});
      const names = new Set(executors.map(({ executor }) => executor.replace(/:.*/, "")));
      expect([...names]).toEqual(["OPENCODE", "CLAUDE_CODE", "ACP"]);
      expect(await client.definitions()).not.toContain("SCRIPTED");
    }
    const { project_id, repos } = await plain.person("add_project", { name: "p", repos: [plain.repository] });
    const { task_id } = await plain.person("create_task", { project_id, title: "x" });
    const start = { task_id, repos: [{ repo_id: repos[0]?.repo_id ?? "", target_branch: "main" }] };
    const model = await plain.stdio();
    expect((await model.fails("start_task_attempt", { ...start, executor: "SCRIPTED" })).code).toBe("invalid_argument");
    // People can still try things out with it.
    expect((await plain.person("start_task_attempt", { ...start, executor: "SCRIPTED" })).task_id).toBe(task_id);
  } finally {
    await plain.stop();
  }
}, 60_000);
