import { describe, expect, test } from "bun:test";
import { spawn } from "node:child_process";
import { once } from "node:events";
import type { CallOperation } from "../../src/client/operations.ts";
import { userIn } from "../../src/http/peer-user.ts";
import { AsyncAgentsError } from "../../src/model/errors.ts";
import { type ApiOptions, failureOf, jsonOf, serverRecord, startApi } from "./api-bed.ts";
import { rawRequest } from "./raw-request.ts";

const PROJECT = "4b6b1cd2-7a55-4e8b-8d0c-0d5f8f1f3a11";

interface OpenApi {
  paths: Record<string, { post: { requestBody: { content: Record<string, { schema: { properties: object } }> } } }>;
}

/** Notes what is asked for; `add_project` is refused. */
function daemon(asked: unknown[] = []): NonNullable<ApiOptions["daemon"]> {
  const board = async (name: string, input: unknown) => {
    asked.push([name, input]);
    if (name === "add_project") throw new AsyncAgentsError("name_taken", "There is one.", { details: { name: "x" } });
    return { task_id: PROJECT };
  };
  return {
    board: board as CallOperation,
    mcp: async (request) => new Response(`${request.method} ${await request.text()}`),
  };
}

describe("the board's operations", () => {
  test("are done with the input as it came; refusals come back with their codes", async () => {
    const asked: unknown[] = [];
    const api = await startApi({ daemon: daemon(asked) });
    const input = { project_id: PROJECT, title: "--fix it" };
    expect(await api.client.operate("create_task", input)).toEqual({ task_id: PROJECT });
    expect(asked).toEqual([["create_task", input]]);
    const failure = await api.client.operate("add_project", { name: "x" }).catch((thrown: unknown) => thrown);
    expect(failure).toMatchObject({ code: "name_taken", details: { name: "x" } });
  });

  test("need the token, an object, and a name that there is", async () => {
    const api = await startApi({ daemon: daemon() });
    const bare = api.ask("/v1/board/list_projects", { method: "POST", body: "{}" });
    expect(await failureOf(bare)).toMatchObject({ status: 401, code: "not_authorized" });
    expect(await failureOf(api.post("/v1/board/list_projects", "[]"))).toMatchObject({ code: "invalid_input" });
    expect(await failureOf(api.post("/v1/board/no_such", {}))).toMatchObject({ code: "no_such_path" });
    const { paths } = (await jsonOf(api.ask("/v1/openapi.json"))) as OpenApi;
    expect(
      paths["/v1/board/follow_up"]?.post.requestBody.content["application/json"]?.schema.properties,
    ).toHaveProperty("attempt_id");
  });

  test("are passed on to the daemon by a server that has no board, and refused where there is none", async () => {
    const asked: unknown[] = [];
    const plugin = await startApi();
    expect(await failureOf(plugin.post("/v1/board/list_projects", {}))).toMatchObject({
      status: 503,
      code: "daemon_unavailable",
      message: expect.stringContaining("asyncagents up"),
    });
    // Both are this very process here: the one that was announced last has the file.
    const other = await startApi({ world: plugin.world, daemon: daemon(asked) });
    expect(serverRecord(plugin.world.directory).kind).toBe("daemon");
    expect(await plugin.client.operate("get_task", { task_id: PROJECT })).toMatchObject({ task_id: PROJECT });
    expect(asked).toEqual([["get_task", { task_id: PROJECT }]]);
    await other.server.stop();
  });
});

describe("/mcp", () => {
  const status = async (port: number, headers: string[]) =>
    (await rawRequest(port, ["POST /mcp HTTP/1.1", "Content-Length: 0", ...headers])).status;

  test("answers programs and this server's own page, and no other page", async () => {
    const { server, ask } = await startApi({ daemon: daemon() });
    expect(await (await ask("/mcp", { method: "POST", body: "hello" })).text()).toBe("POST hello");
    const own = `127.0.0.1:${server.port}`;
    expect(await status(server.port, [`Host: ${own}`])).toBe(200);
    expect(await status(server.port, [`Host: ${own}`, `Origin: http://${own}`])).toBe(200);
    expect(await status(server.port, [`Host: ${own}`, "Origin: http://localhost:3000"])).toBe(403);
    expect(await status(server.port, [`Host: ${own}`, "Origin: http://evil.com"])).toBe(403);
    expect(await status(server.port, ["Host: evil.com"])).toBe(403);
  });

  test("refuses programs of other users without the token, and does not give it to them", async () => {
    const { server, ask, token } = await startApi({ daemon: daemon() });
    const own = process.getuid?.() ?? 0;
    // Only root can be somebody else; others can only see that they are not taken for one.
    const user = own === 0 ? 65_534 : own;
    const foreign = own === 0;
    const asUser = async (path: string, headers: string[]) => {
      const program = `
        const { request } = require("node:http");
        const headers = ${JSON.stringify(Object.fromEntries(headers.map((line) => line.split(": "))))};
        const asked = request({ port: ${server.port}, host: "127.0.0.1", path: "${path}", method: "${path === "/mcp" ? "POST" : "GET"}", headers, agent: false });
        asked.on("response", (answer) => console.log(answer.resume().statusCode)).end();`;
      const child = spawn("node", ["-e", program], { uid: user, stdio: ["ignore", "pipe", "inherit"], cwd: "/" });
      let said = "";
      child.stdout.on("data", (chunk: Buffer) => {
        said += chunk.toString();
      });
      await once(child, "close");
      return Number(said);
    };
    expect(await asUser("/mcp", [])).toBe(foreign ? 403 : 200);
    expect(await asUser("/mcp", [`Authorization: Bearer ${token}`])).toBe(200);
    expect(await asUser("/v1/token", ["Sec-Fetch-Site: same-origin"])).toBe(foreign ? 403 : 200);
    expect((await ask("/v1/token", { headers: { "sec-fetch-site": "same-origin" } })).status).toBe(200);
  }, 60_000);

  test("the kernel's table tells whose connection it is", () => {
    const row = (local: string, remote: string, user: number) =>
      `   1: 0100007F:${local} 0100007F:${remote} 01 00000000:00000000 00:00000000 00000000  ${user}        0 12 1 0 20 4 30 10 -1`;
    const table = ["  sl  local_address rem_address   st", row("1435", "C350", 0), row("C350", "1435", 1001), ""].join(
      "\n",
    );
    expect(userIn(table, 50_000, 5173)).toBe(1001);
    expect([userIn(table, 50_001, 5173), userIn("", 1, 2), userIn("garbage", 1, 2)]).toEqual([null, null, null]);
  });

  test("is not there without a daemon", async () => {
    const { ask } = await startApi();
    expect((await ask("/mcp", { method: "POST" })).status).toBe(404);
  });
});
