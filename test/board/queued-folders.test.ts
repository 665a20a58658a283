/** Which queued tasks may be done in a clone on another machine. */
import { expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { queueTask } from "../../src/board/launch-task.ts";
import { Desk } from "../../src/engine/desk.ts";
import { type CallOrigin, FROM_PERSON } from "../../src/protocol/call-origin.ts";
import { sqliteStore } from "../../src/store/open.ts";
import { makeRepo } from "../cli/cli-bed.ts";
import { temporaryFolders } from "../store/temporary-folder.ts";

const folder = temporaryFolders();

test("only the owner's: agents could name any repository that the other machine can read", async () => {
  const place = folder();
  const repo = makeRepo(join(place, "shop"));
  const remote = join(place, "shop.git");
  const git = (...args: string[]) => execFileSync("git", args, { cwd: repo });
  git("clone", "-q", "--bare", repo, remote);
  git("remote", "add", "origin", remote);
  git("fetch", "-q", "origin");
  const store = await sqliteStore({ directory: folder() });
  const desk = new Desk({ store, machine: "mac_1", engines: () => [], isAlive: () => true });
  const launch = { description: "x", prompt: "x", agent: null, batch: null, host: "scripted", directory: repo };
  const queued = async (origin: CallOrigin) => {
    const { task, bound } = await queueTask(desk, { ...launch, choices: {} }, origin);
    const [place] = await store.queue.waiting([task.id]);
    return { bound, remote: place?.remote ?? null };
  };
  expect(await queued(FROM_PERSON)).toEqual({ bound: null, remote });
  const bound = "a model or a token below admin queued it";
  expect(await queued({ ...FROM_PERSON, door: "model" })).toEqual({ bound, remote: null });
  const token = { name: "ci", role: "launch" } as const;
  expect(await queued({ ...FROM_PERSON, token })).toEqual({ bound, remote: null });
  await store.close();
});
