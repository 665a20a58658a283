/** What the holder of a token with few rights could reach in a roundabout way, or take away from others. */
import { describe, expect, onTestFinished, test } from "bun:test";
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { findDaemon } from "../../../src/daemon/find-daemon.ts";
import { cliWorld, makeRepo } from "../../cli/cli-bed.ts";
import { codeOf } from "../../engine/engine-bed.ts";
import { callTool, startTokenBed } from "../bed/token-bed.ts";

test("bodies that do not arrive keep only others of the same token waiting", async () => {
  const bed = await startTokenBed();
  const head = [
    "POST /v1/board/list_projects HTTP/1.1",
    "Host: 127.0.0.1",
    `Authorization: Bearer ${bed.secrets.read}`,
    "Content-Type: application/json",
    `Content-Length: ${1024 * 1024}`,
  ].join("\r\n");
  const sockets = Array.from({ length: 16 }, () => {
    const socket = connect(bed.port, "127.0.0.1");
    socket.on("error", () => {});
    socket.write(`${head}\r\n\r\n{`);
    return socket.resume();
  });
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
  });
  while ((await bed.post("/v1/board/list_projects", {}, bed.secrets.read)).status !== 429) await Bun.sleep(10);
  expect((await bed.post("/v1/board/add_project", { name: "x" }, bed.secrets.admin)).status).toBe(200);
  const local = { authorization: `Bearer ${bed.folderToken}`, "content-type": "application/json" };
  const init = { method: "POST", headers: local, body: JSON.stringify({ name: "y" }) };
  expect((await fetch(`${bed.server.url}/v1/board/add_project`, init)).status).toBe(200);
}, 20_000);

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

  test("gets no worktree of a repository that a .git file in an approved folder names", async () => {
    const bed = await startTokenBed();
    const secret = makeRepo(join(bed.side.folder, "secret"));
    const [known, evil] = [join(bed.side.folder, "known"), join(bed.side.folder, "known", "evil")];
    mkdirSync(evil, { recursive: true });
    writeFileSync(join(evil, ".git"), `gitdir: ${join(secret, ".git")}\n`);
    await bed.side.call("allow_directory", { directory: known });
    const launch = { description: "x", prompt: "!say x", host: "scripted", directory: evil, worktree: true };
    const refused = await bed.post("/v1/tasks", launch, bed.secrets.launch);
    expect([refused.status, await refused.text()]).toEqual([403, expect.stringContaining("approval_needed")]);
    expect(existsSync(join(bed.side.worktrees, "tasks"))).toBe(false);
    // The owner may use what is theirs, and whoever launches may use a repository of the folder.
    expect((await bed.post("/v1/tasks", launch, bed.secrets.admin)).status).toBe(201);
    const own = { ...launch, directory: makeRepo(join(known, "shop")) };
    expect((await bed.post("/v1/tasks", own, bed.secrets.launch)).status).toBe(201);
  }, 20_000);

  test("requests an approval only for a folder that exists, and people see who asks", async () => {
    const bed = await startTokenBed();
    const launch = { description: "x", prompt: "x", agent: "general", host: "scripted" };
    for (const directory of [`/no/${"x".repeat(300_000)}`, "/nowhere\u202e\u001b[2J", "relative", ""]) {
      const refused = await bed.post("/v1/tasks", { ...launch, directory }, bed.secrets.launch);
      expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining("folder")]);
    }
    const link = join(bed.side.folder, "link");
    mkdirSync(join(bed.side.folder, "work"));
    symlinkSync(join(bed.side.folder, "work"), link);
    const asked = { ...launch, directory: link };
    expect((await bed.post("/v1/tasks", asked, bed.secrets.launch)).status).toBe(403);
    const { approvals } = await bed.side.call("list_approvals", {});
    expect(approvals).toMatchObject([
      { directory: join(bed.side.folder, "work"), asked_by: "a caller with the token the-launch: launch" },
    ]);
    await bed.side.call("decide_approval", { approval_id: approvals[0]?.approval_id ?? "", decision: "approve" });
    // It works in the folder that was approved, whatever the link leads to by then.
    const launched = (await (await bed.post("/v1/tasks", asked, bed.secrets.launch)).json()) as { directory: string };
    expect(launched.directory).toBe(join(bed.side.folder, "work"));
  });

  test("asks for so many approvals that others can ask, too, and all together for so many that people can read them", async () => {
    const bed = await startTokenBed();
    const launch = { description: "x", prompt: "x", agent: "general", host: "scripted" };
    const folder = (name: string) => {
      const directory = join(bed.side.folder, name);
      mkdirSync(directory);
      return directory;
    };
    const ask = async (name: string, secret: string) => {
      const refused = await bed.post("/v1/tasks", { ...launch, directory: folder(name) }, secret);
      const { error } = (await refused.json()) as { error: { code: string; message: string } };
      return error.code === "approval_needed" ? "asked" : `${error.code}: ${error.message}`;
    };
    const fill = async (who: string, secret: string) => {
      for (let count = 0; count < 20; count++) expect(await ask(`${who}-${count}`, secret)).toBe("asked");
    };
    await fill("launch", bed.secrets.launch);
    expect(await ask("one-more", bed.secrets.launch)).toStartWith("not_allowed: 20 requests of this caller");
    // Nor as the agent of its holder.
    const input = { prompt: "x", executor: "SCRIPTED", directory: folder("by-agent") };
    expect(await callTool(bed, bed.secrets.launch, "launch_task", input)).toContain("20 requests of this caller");
    expect(await ask("others", bed.secrets.answer)).toBe("asked");
    const origin = { door: "model", depth: 0 } as const;
    const byModel = { prompt: "x", executor: "SCRIPTED", directory: folder("by-model") };
    expect(await codeOf(bed.side.call("launch_task", byModel, { origin }))).toBe("approval_needed");
    for (const name of ["a", "b", "c"]) await fill(name, await bed.token(name, "launch"));
    const last = await bed.token("last", "launch");
    for (let count = 0; count < 18; count++) expect(await ask(`last-${count}`, last)).toBe("asked");
    expect(await ask("too-many", last)).toStartWith("not_allowed: 100 requests");
    expect((await bed.side.call("list_approvals", { state: "requested", limit: 200 })).count).toBe(100);
  }, 20_000);

  test("and a model queue only so many tasks for runners; whoever may approve is not limited", async () => {
    const world = cliWorld();
    world.environment.ASYNCAGENTS_MAX_QUEUED = "3";
    const made = async (role: string) =>
      world.json<{ token: string }>("token", "create", "--role", role, "--name", role);
    const [launch, admin] = [await made("launch"), await made("admin")];
    await world.json("up", "--listen", "127.0.0.1:0");
    const url = findDaemon(world.data)?.listen ?? "";
    const post = (path: string, { token }: { token: string }, body: unknown, more = {}) =>
      fetch(`${url}${path}`, {
        method: "POST",
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json", ...more },
        body: JSON.stringify(body),
      });
    expect((await post("/v1/board/allow_directory", admin, { directory: world.work })).status).toBe(200);
    const task = { description: "x", prompt: "x", host: "opencode", directory: world.work, queue: {} };
    const queued = (token: { token: string }) => post("/v1/tasks", token, task);
    const statuses = [];
    for (let count = 0; count < 4; count++) statuses.push((await queued(launch)).status);
    expect(statuses).toEqual([201, 201, 201, 429]);
    const params = { name: "launch_task", arguments: { prompt: "x", directory: world.work, queue: {} } };
    const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params };
    const asModel = { accept: "application/json, text/event-stream", "x-asyncagents-depth": "0" };
    expect(await (await post("/mcp", admin, call, asModel)).text()).toContain("3 tasks wait already");
    expect((await queued(admin)).status).toBe(201);
    const own = await world.json<{ id: string }>("run", "--queue", "--host", "opencode", "x");
    for (const { id } of (await world.json<{ tasks: { id: string }[] }>("ls")).tasks) await world.cli("cancel", id);
    expect(own.id).toStartWith("tsk_");
    expect((await queued(launch)).status).toBe(201);
  }, 60_000);
});
