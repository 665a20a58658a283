/** `asyncagents show`: ids, times, answers and worktrees of a task, in words. */
import { expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { BackgroundTask } from "../../../src/protocol/tasks.ts";
import { cliWorld, makeRepo } from "../cli-bed.ts";

const PATIENCE = 120_000;

test(
  "what a policy decided, that a task waits, its batch, and what somebody else answered",
  async () => {
    const world = cliWorld();
    mkdirSync(world.data, { mode: 0o700 });
    const policies = [
      { tool: "question", decision: "ask" },
      { decision: "deny", reason: "Not at night." },
    ];
    const settings = { limits: { maxConcurrent: 1 }, inbox: { policies } };
    writeFileSync(join(world.data, "asyncagents.json"), JSON.stringify(settings), { mode: 0o600 });
    const run = (...words: string[]) => world.json<BackgroundTask>("run", "--host", "scripted", ...words);
    const asks = await run("Asks\n!permit May I push?\n!ask Which database?\n!say done");
    const waits = await run("Waits for a slot\n!say later");
    const before = await world.cli("show", waits.id);
    expect(before.out).toMatch(/^waited +\d.*; it has not begun$/m);
    expect(before.out).not.toMatch(/^took/m);
    expect(await world.json("show", waits.id)).toMatchObject({ beganAt: null });
    const waiting = world.start(["wait", asks.id]);
    await waiting.said("Which database?");
    waiting.process.kill("SIGINT");
    await waiting.ended;
    const { phaseDetail } = await world.json<BackgroundTask>("show", asks.id);
    const { requestId } = phaseDetail as { requestId: string };
    expect((await world.cli("answer", asks.id, "PostgreSQL")).code).toBe(0);
    const second = await world.cli("answer", asks.id, "--request", requestId, "MySQL");
    expect([second.code, second.err]).toEqual([
      1,
      expect.stringContaining('already answered "PostgreSQL", from the command line'),
    ]);
    expect((await world.cli("wait", asks.id, waits.id)).code).toBe(0);
    const { out } = await world.cli("show", asks.id);
    expect(out).toMatch(/rejected "A policy denies this\. Not at night\.", by a policy ← May I push\?/);
    expect(out).toMatch(/answered "PostgreSQL", from the command line ← Which database\?/);
    expect(out).toMatch(new RegExp(`^batch +${asks.batchId}$`, "m"));
    const after = await world.json<BackgroundTask>("show", waits.id);
    expect(Date.parse(after.beganAt ?? "")).toBeGreaterThan(Date.parse(after.run.startedAt));
    const joined = await world.cli("run", "--host", "scripted", "--after", asks.id, "!say x");
    expect(joined.err).toContain(`It is in the batch ${asks.batchId}.`);
  },
  PATIENCE,
);

test(
  "a task with a worktree of its own names its folder, its branch and how it is merged",
  async () => {
    const world = cliWorld();
    const repo = makeRepo(join(world.folder, "shop"));
    const words = ["--host", "scripted", "--worktree", "-C", repo, "Adds a file\n!write a.txt A\n!say done"];
    const { attempt_id } = await world.json<{ attempt_id: string }>("run", ...words);
    expect((await world.cli("attempt", "wait", attempt_id)).code).toBe(0);
    const [task] = (await world.json<{ tasks: BackgroundTask[] }>("ls")).tasks;
    const { out } = await world.cli("show", task?.id ?? "");
    expect(out).toContain(attempt_id);
    expect(out).toMatch(/worktree +\/\S+ \(branch \S+, from \S+\)/);
    expect(out).toMatch(/asyncagents attempt merge \w+ merges them/);
  },
  PATIENCE,
);
