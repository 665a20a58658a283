/** What callers from other machines may do at the second door, by the role of their token, and what is recorded. */
import { describe, expect, test } from "bun:test";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ROUTES } from "../../../src/http/routes.ts";
import { includesRole, ROLES } from "../../../src/model/role.ts";
import { addressOf } from "../../../src/protocol/addresses.ts";
import { BOARD_OPERATIONS, OPERATIONS, type OperationName } from "../../../src/protocol/operations.ts";
import { eventually } from "../../../src/testing/eventually.ts";
import { root } from "../../ground/repository.ts";
import { callTool, startTokenBed, type TokenBed } from "../bed/token-bed.ts";

const NAMES = Object.keys(OPERATIONS) as OperationName[];

/** The status and the error's message; the body of an event stream is not read. */
async function outcomeOf(answer: Promise<Response>): Promise<{ status: number; text: string }> {
  const response = await answer;
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") ?? false;
  if (isStream) await response.body?.cancel();
  return { status: response.status, text: isStream ? "" : await response.text() };
}

function request(bed: TokenBed, name: OperationName, secret?: string): Promise<Response> {
  const { method, path } = addressOf(name);
  const at = path.replace(":id", "none");
  return method === "POST" ? bed.post(at, {}, secret) : bed.ask(at, secret);
}

describe("each operation", () => {
  test("is refused over HTTP to every role that does not include its own, and to callers without a token", async () => {
    const bed = await startTokenBed();
    expect(ROUTES).toHaveLength(NAMES.length);
    for (const name of NAMES) {
      const needed = OPERATIONS[name].role;
      for (const wrong of [undefined, bed.folderToken, "aat_", `${bed.secrets.admin}x`]) {
        const { status } = await outcomeOf(request(bed, name, wrong));
        // After some wrong tokens, the caller has to wait.
        expect([name, wrong, wrong === undefined ? status === 401 : [401, 429].includes(status)]).toEqual([
          name,
          wrong,
          true,
        ]);
      }
      for (const role of ROLES) {
        const { status, text } = await outcomeOf(request(bed, name, bed.secrets[role]));
        const isAllowed = needed !== null && includesRole(role, needed);
        expect([name, role, status !== 401 && !text.includes("Your token")]).toEqual([name, role, isAllowed]);
        if (!isAllowed) expect([name, role, status]).toEqual([name, role, 403]);
      }
    }
    expect(await bed.side.store.tasks({})).toMatchObject({ total: 0 });
  }, 30_000);

  test("is refused over MCP to every role that does not include its own", async () => {
    const bed = await startTokenBed();
    const tools = Object.entries(BOARD_OPERATIONS).filter(([, { toolset }]) => toolset !== undefined);
    expect(tools.length).toBeGreaterThan(15);
    for (const [name, { role: needed }] of tools) {
      for (const role of ROLES) {
        const text = await callTool(bed, bed.secrets[role], name, {});
        const isAllowed = needed !== null && includesRole(role, needed);
        expect([name, role, text.includes("needs the role")]).toEqual([name, role, !isAllowed]);
      }
    }
    expect((await bed.post("/mcp", {}, bed.folderToken)).status).toBe(401);
  }, 30_000);

  test("has a role, and those that change something need more than read", () => {
    const readers = NAMES.filter((name) => OPERATIONS[name].role === "read");
    const changing = readers.filter((name) => {
      const isBoard = Object.hasOwn(BOARD_OPERATIONS, name);
      return isBoard ? !(OPERATIONS[name] as { readOnly?: boolean }).readOnly : addressOf(name).method !== "GET";
    });
    expect(changing).toEqual([]);
    expect(NAMES.filter((name) => OPERATIONS[name].role === null)).toEqual([
      "pageToken",
      "attach",
      "next_ends",
      "hear_ends",
    ]);
  });
});

describe("a token below admin", () => {
  test("launches only where agents may work already; an admin allows the place", async () => {
    const bed = await startTokenBed();
    const directory = join(bed.side.folder, "work");
    mkdirSync(directory);
    const launch = { description: "x", prompt: "!write x", agent: "general", host: "scripted", directory };
    for (const role of ["launch", "answer"] as const) {
      const refused = await outcomeOf(bed.post("/v1/tasks", launch, bed.secrets[role]));
      expect([refused.status, refused.text.includes("approval_needed")]).toEqual([403, true]);
      const unnamed = await outcomeOf(bed.post("/v1/tasks", { ...launch, directory: undefined }, bed.secrets[role]));
      expect([unnamed.status, unnamed.text.includes("host and its directory")]).toEqual([400, true]);
    }
    const executors = await bed.post(
      "/v1/board/launch_task",
      { prompt: "x", directory, executor: "SCRIPTED" },
      bed.secrets.launch,
    );
    expect([executors.status, (await executors.text()).includes("approval_needed")]).toEqual([403, true]);
    expect((await bed.post("/v1/board/allow_directory", { directory }, bed.secrets.admin)).status).toBe(200);
    expect((await bed.post("/v1/tasks", launch, bed.secrets.launch)).status).toBe(201);
  });

  test("does not use the scripted agent, which asks for no permission, unless models may", async () => {
    const bed = await startTokenBed({ scriptedForModels: false });
    const directory = join(bed.side.folder, "work");
    mkdirSync(directory);
    await bed.side.call("allow_directory", { directory });
    const launch = { description: "x", prompt: "!write x", agent: "general", host: "scripted", directory };
    const refused = await outcomeOf(bed.post("/v1/tasks", launch, bed.secrets.launch));
    expect([refused.status, refused.text.includes("no executor")]).toEqual([400, true]);
    const made = await bed.post("/v1/tasks", launch, bed.secrets.admin);
    const { id } = (await made.json()) as { id: string };
    const path = `/v1/tasks/${id}`;
    const { store } = bed.side;
    await eventually(store, async () => ((await store.task(id))?.status === "completed" ? true : null));
    const resumed = await outcomeOf(bed.post(`${path}/resume`, { prompt: "!write y" }, bed.secrets.launch));
    expect([resumed.status, resumed.text.includes("no executor")]).toEqual([400, true]);
  });

  test("a setup script that it brings along is not approved by that", async () => {
    const bed = await startTokenBed();
    const project = (await bed.side.call("add_project", { name: "p" })).project_id;
    const answer = await bed.post(
      "/v1/board/add_repo",
      { project_id: project, path: "/", setup: "id" },
      bed.secrets.answer,
    );
    expect(answer.status).toBe(403);
    expect(await bed.side.store.board.approvals(null, { limit: 10, after: null })).toEqual([]);
  });
});

describe("the audit log", () => {
  test("names who made each change, at whichever door, and what became of it; reading is not recorded", async () => {
    const bed = await startTokenBed();
    const local = { authorization: `Bearer ${bed.folderToken}`, "content-type": "application/json" };
    const here = (path: string, body: unknown, headers = {}) =>
      fetch(`${bed.server.url}${path}`, {
        method: "POST",
        headers: { ...local, ...headers },
        body: JSON.stringify(body),
      });
    await here("/v1/board/add_project", { name: "one" });
    await here("/v1/board/add_project", { name: "two" }, { "x-asyncagents-door": "model", "x-asyncagents-depth": "0" });
    const added = await bed.post("/v1/board/add_project", { name: "three" }, bed.secrets.admin);
    const { project_id } = (await added.json()) as { project_id: string };
    await bed.post("/v1/board/create_task", { project_id, title: "x" }, bed.secrets.launch);
    await callTool(bed, bed.secrets.launch, "create_task", { project_id, title: "y" });
    await bed.post("/v1/tasks/none/cancel", {}, bed.secrets.launch);
    await bed.post("/v1/tasks/none/tell", {}, bed.secrets.launch);
    await bed.post("/v1/board/list_projects", {}, bed.secrets.read);
    await bed.ask("/v1/tasks", bed.secrets.read);
    const answer = await bed.ask("/v1/audit", bed.secrets.read);
    const { entries } = (await answer.json()) as { entries: { by: string; operation: string; outcome: string }[] };
    expect(entries.map(({ by, operation, outcome }) => `${by}: ${operation} ${outcome}`).reverse()).toEqual([
      "local user: add_project done",
      "agent: add_project done",
      "the-admin: add_project done",
      "the-launch: create_task done",
      "the-launch (agent): create_task done",
      "the-launch: cancel failed",
      "the-launch: tell failed",
    ]);
    const allowed = await bed.post("/v1/board/allow_directory", { directory: bed.side.folder }, bed.secrets.admin);
    const { approval } = (await allowed.json()) as { approval: { approval_id: string } };
    const ofApproval = await bed.ask(`/v1/audit?subject=${approval.approval_id}`, bed.secrets.read);
    expect(await ofApproval.json()).toMatchObject({ entries: [{ by: "the-admin", operation: "allow_directory" }] });
    const ofProject = await bed.ask(`/v1/audit?subject=${project_id}&limit=2`, bed.secrets.read);
    expect(((await ofProject.json()) as { entries: unknown[] }).entries).toHaveLength(2);
  });

  test("a change that cannot be recorded is not made", async () => {
    const bed = await startTokenBed();
    const { access } = bed.side.store;
    access.openAudit = () => Promise.reject(new Error("no room"));
    expect((await bed.post("/v1/board/add_project", { name: "x" }, bed.secrets.admin)).status).toBe(500);
    expect((await bed.side.call("list_projects", {})).count).toBe(0);
  });
});

test("a caller is told who it is, at both doors", async () => {
  const bed = await startTokenBed();
  const there = (await (await bed.ask("/v1/caller", bed.secrets.launch)).json()) as Record<string, unknown>;
  expect(there).toMatchObject({ name: "the-launch", role: "launch", door: "token" });
  expect(there.operations).toContain("launch");
  expect(there.operations).not.toContain("answer");
  const headers = { authorization: `Bearer ${bed.folderToken}` };
  const here = (await (await fetch(`${bed.server.url}/v1/caller`, { headers })).json()) as Record<string, unknown>;
  expect(here).toMatchObject({ name: "local user", role: "admin", door: "local" });
  expect(here.operations).toEqual(NAMES);
});

test("the guide lists the operations of each role", () => {
  const guide = readFileSync(join(root, "docs/doors.md"), "utf8");
  for (const role of ROLES) {
    const row = guide.split("\n").find((line) => line.startsWith(`| \`${role}\``)) ?? "";
    const listed = Array.from(row.split("|")[3]?.matchAll(/`(\w+)`/g) ?? [], ([, name]) => name);
    expect([role, listed]).toEqual([role, NAMES.filter((name) => OPERATIONS[name].role === role)]);
  }
});
