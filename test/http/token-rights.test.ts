/** What the holder of a token with few rights could reach in a roundabout way, or take away from others. */
import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { makeRepo } from "../cli/cli-bed.ts";
import { callTool, startTokenBed } from "./bed/token-bed.ts";

describe("a launch token", () => {
  test("does not continue an attempt of the scripted agent, unless models may use that", async () => {
    const bed = await startTokenBed({ scriptedForModels: false });
    const { call, folder } = bed.side;
    const { project_id } = await call("add_project", { name: "p" });
    const { repo_id } = await call("add_repo", { project_id, path: makeRepo(join(folder, "shop")) });
    const { task_id } = await call("create_task", { project_id, title: "Try it", description: "!say hello" });
    const repos = [{ repo_id, target_branch: "main" }];
    const { attempt_id } = await call("start_task_attempt", { task_id, executor: "SCRIPTED", repos });
    const attempt = await call("get_attempt", { attempt_id, wait_ms: 20_000 });
    const prompt = "!write taken.txt yes";
    for (const action of ["send", "queue"] as const) {
      const refused = await bed.post("/v1/board/follow_up", { attempt_id, action, prompt }, bed.secrets.launch);
      expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining("no executor")]);
      const byModel = await callTool(bed, bed.secrets.admin, "follow_up", { attempt_id, action, prompt });
      expect(byModel).toContain("no executor");
    }
    expect((await call("list_follow_ups", { attempt_id })).queued_count).toBe(0);
    expect(existsSync(join(attempt.repos[0]?.path ?? "", "taken.txt"))).toBe(false);
    const sent = { attempt_id, action: "send", prompt: "!say more" };
    expect((await bed.post("/v1/board/follow_up", sent, bed.secrets.admin)).status).toBe(200);
    await call("get_attempt", { attempt_id, wait_ms: 20_000 });
  }, 30_000);
});
