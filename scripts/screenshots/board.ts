/**
 * The pictures of the board: a real daemon with a real repository, on which real OpenCode agents with a scripted
 * model have worked. Leaves nothing behind.
 */
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { type Client, createClient } from "../../src/client/client.ts";
import { findDaemon } from "../../src/daemon/find-daemon.ts";
import { openCodeBinary } from "../../src/testing/opencode/binary.ts";
import { createProject, createTemporaryRoot, prepareHome } from "../../src/testing/opencode/home.ts";
import { cleanEnvironment } from "../../src/testing/opencode/process.ts";
import { type BoardItem, boardItems, REVIEWED } from "./board-story.ts";
import { files } from "./story.ts";
import { startUnmarkedModel, type UnmarkedModel } from "./unmarked-model.ts";

const main = join(import.meta.dir, "../..", "src", "cli", "main.ts");

const AUTHOR = {
  GIT_AUTHOR_NAME: "A person",
  GIT_AUTHOR_EMAIL: "person@localhost",
  GIT_COMMITTER_NAME: "A person",
  GIT_COMMITTER_EMAIL: "person@localhost",
};

export interface BoardPlace {
  url: string;
  /** The attempt whose changes are shown. */
  reviewed: string;
}

/** Plays the story, and has its pages photographed while the daemon runs. */
export async function withBoard(picture: (place: BoardPlace) => Promise<void>): Promise<void> {
  const root = await createTemporaryRoot();
  const [home, data] = [join(root, "home"), join(root, "data")];
  const model = startUnmarkedModel();
  let daemon: Bun.Subprocess | null = null;
  try {
    for (const folder of [home, data]) await mkdir(folder);
    await prepareHome(home, { model, config: model.config });
    const repository = await createProject(join(root, "greengrocer"), files);
    daemon = Bun.spawn([process.execPath, main, "daemon"], {
      cwd: data,
      env: cleanEnvironment(home, { ...AUTHOR, ...settingsFor(data) }),
      stdio: ["ignore", "ignore", "inherit"],
    });
    const { url, token } = await recordOf(data, daemon);
    const reviewed = await playBoard(createClient({ url, token }), model, repository);
    await picture({ url, reviewed });
  } finally {
    daemon?.kill("SIGTERM");
    await daemon?.exited;
    await model.stop();
    await rm(root, { recursive: true, force: true });
  }
}

function settingsFor(data: string) {
  return { ASYNCAGENTS_HOME: data, ASYNCAGENTS_API_PORT: "0", ASYNCAGENTS_OPENCODE: openCodeBinary() };
}

async function recordOf(directory: string, daemon: Bun.Subprocess) {
  for (let tries = 0; tries < 400 && daemon.exitCode === null; tries++) {
    const record = findDaemon(directory);
    if (record) return record;
    await Bun.sleep(50);
  }
  throw new Error("The daemon did not start.");
}

/** Returns the attempt in review. */
async function playBoard(client: Client, model: UnmarkedModel, repository: string): Promise<string> {
  const { project_id } = await client.operate("add_project", { name: "Greengrocer" });
  const { repo_id } = await client.operate("add_repo", { project_id, path: repository });
  let reviewed = "";
  for (const item of boardItems) {
    const { title, description } = item;
    const { task_id } = await client.operate("create_task", { project_id, title, description });
    if (item.steps) {
      model.script(title, item.steps);
      const repos = [{ repo_id, target_branch: "main" }];
      const input = { task_id, executor: "OPENCODE", repos };
      const { attempt_id } = await client.operate("start_task_attempt", input);
      await untilAsWanted(client, attempt_id, item);
      if (item.ends === "merge") await client.operate("merge_attempt", { attempt_id });
      if (item.title === REVIEWED) reviewed = attempt_id;
    }
    if (item.ends && item.ends !== "merge") await client.operate("update_task", { task_id, status: item.ends });
  }
  await model.gate("board").reachedBy(1);
  return reviewed;
}

/** An attempt that stops at a gate is left running. */
async function untilAsWanted(client: Client, attempt_id: string, { steps = [] }: BoardItem): Promise<void> {
  if (steps.some((step) => step.type === "gate")) return;
  for (;;) {
    const { state } = await client.operate("get_attempt", { attempt_id, wait_ms: 50_000 });
    if (state !== "starting" && state !== "running") return;
  }
}
