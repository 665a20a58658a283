import { describe, expect, test } from "bun:test";
import { AsyncAgentsError } from "../../src/model/errors.ts";
import type { CallOperation } from "../../src/protocol/operations.ts";
import { type ApiOptions, failureOf, jsonOf, serverRecord, startApi } from "./bed/api-bed.ts";
import { rawRequest } from "./bed/raw-request.ts";

const PROJECT = "4b6b1cd2-7a55-4e8b-8d0c-0d5f8f1f3a11";

interface OpenApi {
  paths: Record<string, { post: { requestBody: { content: Record<string, { schema: { properties: object } }> } } }>;
}

/** Records the calls; rejects `add_project`. */
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
  test("are executed with the input as sent; errors come back with their codes", async () => {
    const asked: unknown[] = [];
    const api = await startApi({ daemon: daemon(asked) });
    const input = { project_id: PROJECT, title: "--fix it" };
    expect(await api.client.operate("create_task", input)).toEqual({ task_id: PROJECT });
    expect(asked).toEqual([["create_task", input]]);
    const failure = await api.client.operate("add_project", { name: "x" }).catch((thrown: unknown) => thrown);
    expect(failure).toMatchObject({ code: "name_taken", details: { name: "x" } });
  });

  test("need the token, an object, and an existing name", async () => {
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

  test("are asked of the daemon by a server without a board, and rejected if there is none", async () => {
    const asked: unknown[] = [];
    const plugin = await startApi();
    expect(await failureOf(plugin.post("/v1/board/list_projects", {}))).toMatchObject({
      status: 503,
      code: "daemon_unavailable",
      message: expect.stringContaining("asyncagents up"),
    });
    const other = await startApi({ world: plugin.world, daemon: daemon(asked) });
    expect(serverRecord(plugin.world.directory).kind).toBe("daemon");
    const input = { project_id: PROJECT, title: "x" };
    expect(await plugin.client.operate("create_task", input)).toEqual({ task_id: PROJECT });
    expect(asked).toEqual([["create_task", input]]);
    const failure = await failureOf(plugin.post("/v1/board/add_project", { name: "x" }));
    expect(failure).toMatchObject({ status: 409, code: "name_taken", details: { name: "x" } });
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

  test("does not exist without a daemon", async () => {
    const { ask } = await startApi();
    expect((await ask("/mcp", { method: "POST" })).status).toBe(404);
  });
});
