/**
 * What an agent that we started may not do on the board, over MCP or with a command: what it finds there is not its
 * own.
 */
import { expect, test } from "bun:test";
import type { CallOrigin } from "../../src/protocol/call-origin.ts";
import { refusal } from "../worktree/git-bed.ts";
import { attemptOf, boardBed, open, projectOn, wait } from "./board-bed.ts";

const bed = boardBed();
const side = await bed.side();
const { call } = side;

/** An agent that we started, over MCP and with a command in its shell, and one that hides its depth. */
const AGENTS: CallOrigin[] = [
  { door: "model", depth: 1 },
  { door: "person", depth: 1 },
  { door: "model", depth: null },
];
/** The agent of a person, who started it without us. */
const OUTSIDE: CallOrigin = { door: "model", depth: 0 };

test("an agent that we started deletes no work item, with force or without, and is told what to do instead", async () => {
  const place = await projectOn(side, bed.git);
  const { task_id } = await attemptOf(side, place, "!write a.txt a");
  const idle = await call("create_task", { project_id: place.project_id, title: "Not begun" });
  for (const origin of AGENTS) {
    for (const input of [{ task_id }, { task_id, force: true }, { task_id: idle.task_id }]) {
      const refused = await refusal(call("delete_task", input, { origin }));
      expect(refused).toMatchObject({ code: "depth_exceeded", message: expect.stringContaining("update_task") });
    }
  }
  expect((await call("get_task", { task_id: idle.task_id })).task.status).toBe("todo");
  expect((await call("list_task_attempts", { task_id })).count).toBe(1);
  await call("delete_task", { task_id: idle.task_id }, { origin: OUTSIDE });
  await call("delete_task", { task_id, force: true }, { origin: OUTSIDE });
});

test("where agents may start others, they delete what nobody misses, and nothing with force", async () => {
  const deep = await bed.side(undefined, { maxDepth: 2 });
  const place = await projectOn(deep, bed.git);
  const origin: CallOrigin = { door: "model", depth: 1 };
  const { task_id, attempt_id } = await attemptOf(deep, place, "!write a.txt a");
  await wait(deep, attempt_id);
  expect((await refusal(deep.call("delete_task", { task_id, force: true }, { origin }))).code).toBe("depth_exceeded");
  expect((await refusal(deep.call("delete_task", { task_id }, { origin }))).code).toBe("worktree_dirty");
  const idle = await deep.call("create_task", { project_id: place.project_id, title: "Not begun" });
  await deep.call("delete_task", { task_id: idle.task_id }, { origin });
});

test("an agent that we started cancels no queued prompts", async () => {
  const { attempt_id } = await attemptOf(side, await projectOn(side, bed.git), "!wait go");
  await call("follow_up", { attempt_id, action: "queue", prompt: "!say next" });
  for (const origin of AGENTS) {
    const refused = await refusal(call("follow_up", { attempt_id, action: "cancel" }, { origin }));
    expect(refused).toMatchObject({ code: "depth_exceeded", message: expect.stringContaining("queued prompts") });
  }
  expect((await call("list_follow_ups", { attempt_id })).queued_count).toBe(1);
  await call("follow_up", { attempt_id, action: "cancel" }, { origin: OUTSIDE });
  open(await call("get_attempt", { attempt_id }), "go");
  await wait(side, attempt_id);
});

test("an agent's command looks at a repository, and changes neither its script nor its copied files nor its name", async () => {
  const place = await projectOn(side, bed.git, 1, { setup: "echo own", copy: [".env"] });
  const repo_id = place.repos[0]?.repo_id ?? "";
  const origin: CallOrigin = { door: "person", depth: 1 };
  for (const fields of [{ setup: "echo other" }, { setup: "" }, { copy: [".ssh"] }, { name: "other" }]) {
    expect((await refusal(call("update_repo", { repo_id, ...fields }, { origin }))).code).toBe("not_allowed");
  }
  const found = await call("find_repo", { repo_id }, { origin });
  expect(found).toMatchObject({ name: "project", setup: "echo own", copy: [".env"], setup_approval: "approved" });
  expect((await call("list_approvals", { state: "requested" })).count).toBe(0);
  expect((await call("update_repo", { repo_id, setup: "echo new" })).setup).toBe("echo new");
});
