/** Decisions of people who do not know of each other. */
import { expect, test } from "bun:test";
import { refusal } from "../worktree/git-bed.ts";
import { attemptOf, boardBed, projectOn, wait } from "./board-bed.ts";

const bed = boardBed();
const side = await bed.side();
const { call } = side;

async function asked(): Promise<{ approval_id: string; start(): Promise<{ attempt_id: string }> }> {
  const place = await projectOn(side, bed.git);
  const [path = ""] = place.paths;
  const request = { project_id: place.project_id, path, name: "scripted", setup: "echo x >> ../ran" };
  const origin = { door: "model", depth: 0 } as const;
  const { repo_id, approval_id } = await call("add_repo", request, { origin });
  const repos = [{ repo_id, target_branch: "main" }];
  return { approval_id: approval_id ?? "", start: () => attemptOf(side, { ...place, repos }, "!say ok") };
}

test.each([
  ["approve", "deny"],
  ["deny", "approve"],
] as const)("of two that decide at once, the first counts (%s), and the second is told so", async (first, second) => {
  const { approval_id, start } = await asked();
  const decide = (decision: "approve" | "deny") =>
    call("decide_approval", { approval_id, decision, if_requested: true });
  const [won, lost] = await Promise.all([decide(first), refusal(decide(second))]);
  const state = first === "approve" ? "approved" : "denied";
  expect(won.approval.state).toBe(state);
  expect(lost).toMatchObject({ code: "nothing_asked", details: { approval_id, state } });
  expect(lost.message).toContain(`already ${state}`);
  // The same decision twice is no contradiction, and does not move its time.
  expect((await decide(first)).approval).toEqual(won.approval);
  const started = await start().then(
    ({ attempt_id }) => wait(side, attempt_id),
    (thrown: { code: string }) => thrown.code,
  );
  expect(typeof started === "string" ? started : started.state).toBe(
    first === "approve" ? "completed" : "approval_needed",
  );
  // A person who names it can still change it.
  const { approval } = await call("decide_approval", { approval_id, decision: second });
  expect(approval.state).not.toBe(state);
});
