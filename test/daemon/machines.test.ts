import { describe, expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { postgresStore } from "../../src/store/open.ts";
import type { Store } from "../../src/store/store.ts";
import type { TranscriptKind } from "../../src/store/transcripts/records.ts";
import { eventually } from "../../src/testing/eventually.ts";
import { type CliWorld, cliWorld, makeRepo } from "../cli/cli-bed.ts";
import { startPostgres } from "../store/postgres-server.ts";

const connectionString = await startPostgres();

/** Two machines: each has a data folder and a daemon of its own, and both use one PostgreSQL. */
function machines(): [CliWorld, CliWorld] {
  const worlds: [CliWorld, CliWorld] = [cliWorld(), cliWorld()];
  for (const { environment } of worlds) environment.ASYNCAGENTS_STORE = connectionString;
  return worlds;
}

async function onStore<T>(work: (store: Store) => Promise<T>): Promise<T> {
  const store = await postgresStore({ connectionString });
  return work(store).finally(() => store.close());
}

/** Resolves when what a run showed is stored. */
async function kept(taskId: string, kind: TranscriptKind, run: number): Promise<void> {
  await onStore((store) =>
    eventually(store, async () => ((await store.transcripts.get(taskId, kind))?.run === run ? true : null)),
  );
}

function taskOf(attemptId: string): Promise<string> {
  return onStore(async ({ board }) => (await board.attempt(attemptId))?.latestSession?.taskId ?? "");
}

describe("what only one machine can do is asked for on another", () => {
  test("answer, live conversation and resume of a task", async () => {
    const [here, there] = machines();
    await here.json("up");
    const { id } = await there.json<{ id: string }>("run", "--host", "scripted", "Asks\n!permit May I?");
    await onStore((store) =>
      eventually(store, async () => ((await store.task(id))?.phase === "waiting" ? true : null)),
    );
    expect((await here.cli("logs", id)).out).toContain("!permit May I?");
    expect(await here.cli("answer", id, "--once")).toMatchObject({ code: 0 });
    expect((await here.cli("wait", id)).code).toBe(0);
    expect(await here.cli("resume", id, "More\n!say again", "--wait")).toMatchObject({ code: 0 });
    expect(await there.json("show", id)).toMatchObject({ status: "completed", result: "again", resumeCount: 1 });
    expect((await here.cli("logs", id)).out).toContain("again");
    await kept(id, "conversation", 1);
    expect((await there.cli("down")).code).toBe(0);
    // Nobody can read it any more: it is shown as it was kept.
    expect((await here.cli("logs", id)).out).toContain("again");
    expect((await here.cli("resume", id, "More")).err).toContain("on another machine (mac_");
  }, 90_000);

  test("diff, follow-up and merge of an attempt; without a daemon there, the error says so", async () => {
    const [here, there] = machines();
    const repo = makeRepo(join(there.work, "shop"));
    await there.json("project", "add", "shop", "--repo", repo);
    const item = ["item", "add", "Write it", "!write new file.txt\n!write b.txt yes", "-p", "shop"];
    const { task_id } = await there.json<{ task_id: string }>(...item);
    const started = await there.json<{ attempt_id: string }>(
      "attempt",
      "start",
      task_id,
      "--host",
      "scripted",
      "--wait",
    );
    const id = started.attempt_id;
    expect((await here.cli("attempt", "diff", id)).out).toContain("+yes");
    expect((await here.cli("attempt", "follow", id, "More\n!write c.txt see", "--wait")).code).toBe(0);
    await kept(await taskOf(id), "diff", 1);
    expect((await there.cli("down")).code).toBe(0);
    expect((await here.cli("attempt", "diff", id)).out).toContain("+see");
    const refused = await here.cli("attempt", "merge", id);
    expect([refused.code, refused.err]).toEqual([5, expect.stringContaining("is on another machine (mac_")]);
    await there.json("up");
    expect(await here.cli("attempt", "merge", id, "-m", "Take it")).toMatchObject({ code: 0 });
    expect(execFileSync("git", ["log", "--format=%s", "-1"], { cwd: repo, encoding: "utf8" }).trim()).toBe("Take it");
    expect(await there.json("item", "show", task_id)).toMatchObject({ status: "done" });
  }, 90_000);
});
