/**
 * `asyncagents budget`, `run --budget`, and where `ls`, `show` and the inbox show a budget; what agents may do to it.
 */
import { expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import type { WireBudget } from "../../../src/protocol/budgets.ts";
import type { InboxPage } from "../../../src/protocol/inbox.ts";
import type { BackgroundTask } from "../../../src/protocol/tasks.ts";
import { cliWorld, MAIN } from "../cli-bed.ts";

test("a budget is set, shown, used up, raised by a person, and only lowered by an agent", async () => {
  const world = cliWorld();
  const run = (...words: string[]) => world.json<BackgroundTask>("run", "--host", "scripted", ...words);
  const wrong = await world.cli("run", "--host", "scripted", "--budget", "5 dollars", "!say never");
  expect([wrong.code, wrong.err]).toEqual([2, expect.stringContaining('Write it as "$2 30min 500ktok 5tasks"')]);
  const { id, batchId } = await run("--budget", "$2 1h 5tasks", "Waits\n!write a.txt A\n!wait never.txt");
  const { budgets } = await world.json<{ budgets: WireBudget[] }>("budget", "ls");
  expect(budgets).toMatchObject([
    { id: `task:${id}`, limits: { cost: 2, minutes: 60, tasks: 5, tokens: null }, live: 1, setBy: "launch" },
  ]);
  expect((await world.cli("show", id)).out).toMatch(
    /budget +task:\S+: \$0\.\d+ of \$2\.00, 0 min of 60 min, 0 of 5 tasks/,
  );
  expect((await world.cli("ls")).err).toContain(`budget of task ${id}: `);
  const agent = (...words: string[]) =>
    spawnSync(process.execPath, [MAIN, "budget", "set", ...words], {
      env: { ...world.environment, ASYNCAGENTS_DEPTH: "1" },
      encoding: "utf8",
      cwd: world.work,
    });
  const raised = agent(id, "$3");
  expect([raised.status, raised.stderr]).toEqual([1, expect.stringContaining("only a person can raise it")]);
  expect(agent(id, "none").status).toBe(1);
  expect(agent(id, "$1").status).toBe(0);
  // Less than was used: its run is stopped.
  const batch = await world.json<WireBudget>("budget", "set", `batch:${batchId}`, "$0.001");
  expect(batch).toMatchObject({ setBy: "local user", live: 1, limits: { cost: 0.001 } });
  const waited = await world.cli("wait", id);
  expect(waited.code).toBe(1);
  const stopped = await world.json<BackgroundTask>("show", id);
  expect(stopped.error).toStartWith(`stopped: the budget of batch ${batchId} is used up`);
  const { entries } = await world.json<InboxPage>("inbox");
  // One entry, which names what it stopped.
  expect(entries).toMatchObject([
    { kind: "budget", budgetId: `batch:${batchId}`, taskId: null, description: 'the batch of "Waits"' },
  ]);
  expect(entries[0]?.text).toContain(
    `It stopped "Waits". Once it is raised (asyncagents budget set batch:${batchId} …)`,
  );
  expect((await world.cli("inbox")).out).toContain(`batch:${batchId}`);
  const early = await world.cli("resume", id, "!say went on");
  expect([early.code, early.err]).toEqual([1, expect.stringContaining("left of $0.0010")]);
  expect((await world.cli("budget", "set", `batch:${batchId}`, "$5")).out).toMatch(
    /^batch:\S+: \$0\.\d+ of \$5\.00\n$/,
  );
  expect((await world.json<InboxPage>("inbox")).entries.map(({ kind, taskId }) => [kind, taskId])).toEqual([
    ["limit", id],
  ]);
  expect((await world.cli("resume", id, "--wait", "!say went on")).out).toBe("went on\n");
  expect((await world.json<InboxPage>("inbox")).entries).toEqual([]);
  const unknown = await world.cli("budget", "set", "batch:nothing", "$5");
  expect([unknown.code, unknown.err]).toEqual([3, expect.stringContaining("Give task:ID, batch:ID or session:ID")]);
});

test("a task's budget that is used up goes by the task's short id, which commands take", async () => {
  const world = cliWorld();
  const { id } = await world.json<BackgroundTask>(
    "run",
    "--host",
    "scripted",
    "Waits\n!write a.txt A\n!wait never.txt",
  );
  const short = id.slice(-8);
  await world.json("budget", "set", id, "$0.001");
  expect((await world.cli("wait", id)).code).toBe(1);
  const { out, err } = await world.cli("inbox");
  expect(out).toMatch(new RegExp(`^ID +NEEDS .*\\n${short} +budget `));
  expect(err).toBe("asyncagents budget set <id> '$5 2h' · asyncagents show <id>\n");
  for (const shown of [short, `task:${id}`]) expect((await world.cli("show", shown)).out).toContain(id);
  const read = await world.cli("inbox", "read", `task:${id}`);
  expect([read.code, read.out]).toEqual([0, expect.stringMatching(/^Marked .* as read\.\n$/)]);
  expect(read.err).toContain(`stays in the inbox until it is raised: asyncagents budget set task:${id} `);
  const other = await world.cli("show", "batch:bat_1");
  expect([other.code, other.err]).toEqual([3, expect.stringContaining("is a budget, not a task. To raise it:")]);
  expect((await world.cli("budget", "set", short, "$5")).code).toBe(0);
  const quiet = await world.json<BackgroundTask>(
    "run",
    "--host",
    "scripted",
    "--wait",
    "Ends\n!write b.txt B\n!say done",
  );
  await world.json("budget", "set", quiet.id, "$0.001");
  const [entry] = (await world.json<InboxPage>("inbox")).entries;
  expect(entry?.text).toMatch(/is used up: .*\. To raise it: asyncagents budget set task:/);
}, 60_000);
