/**
 * The transports with a real daemon: both generations of clients, the official conformance suite, who may connect,
 * and which process exits when.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { COMMAND, DaemonBed, mcpArguments } from "./daemon-bed.ts";

/** The server scenarios of the official suite that apply to this server; docs/mcp.md covers the others. */
const SCENARIOS = ["server-initialize", "ping", "tools-list", "dns-rebinding-protection"];

let bed: DaemonBed;
beforeAll(async () => {
  bed = await DaemonBed.start();
});
afterAll(() => bed?.stop());

const PING = { jsonrpc: "2.0", id: 1, method: "ping" };

function post(headers: Record<string, string>, body: unknown = PING): Promise<Response> {
  const usual = { "content-type": "application/json", accept: "application/json, text/event-stream" };
  const init = { method: "POST", headers: { ...usual, ...headers }, body: JSON.stringify(body) };
  return fetch(`${bed.url}/mcp`, init);
}

test("clients of both generations use the same tools, over stdio and HTTP [MT-01.1]", async () => {
  const clients = {
    newStdio: await bed.stdio(),
    oldStdio: await bed.oldStdio(),
    newHttp: await bed.http(),
    oldHttp: await bed.oldHttp(),
  };
  expect([clients.newStdio.protocol(), clients.newHttp.protocol()]).toEqual(["2026-07-28", "2026-07-28"]);
  for (const [name, client] of Object.entries(clients)) {
    expect(await client.names()).toEqual(expect.arrayContaining(["list_tasks", "list_task_attempts"]));
    const { project_id } = await client.call("add_project", { name });
    const { projects } = await client.call("list_projects", {});
    expect(projects.at(-1)).toMatchObject({ id: project_id, name });
    expect(await client.fails("list_repos", { project_id: "x" })).toMatchObject({ code: "invalid_argument" });
  }
});

for (const version of ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]) {
  test(`a client that speaks ${version} is answered in that version`, async () => {
    const params = { protocolVersion: version, capabilities: {}, clientInfo: { name: "raw", version: "1" } };
    const answer = await post({}, { jsonrpc: "2.0", id: 1, method: "initialize", params });
    const text = await answer.text();
    const { result } = JSON.parse(text.slice(text.indexOf("{")));
    expect(result).toMatchObject({ protocolVersion: version, serverInfo: { name: "asyncagents" } });
    expect(result.instructions).toContain("start_task_attempt");
  });
}

for (const scenario of SCENARIOS) {
  test(`the conformance suite's ${scenario} passes`, async () => {
    const { code, stdout, stderr } = await bed.conformance(scenario);
    expect({ code, output: code === 0 ? "" : stdout + stderr }).toEqual({ code: 0, output: "" });
  });
}

test("web pages and other names for this machine are rejected; programs are not", async () => {
  const { host } = new URL(bed.url);
  const status = async (headers: Record<string, string>) => {
    const answer = await post(headers);
    await answer.text();
    return answer.status;
  };
  expect(await status({})).toBe(200);
  expect(await status({ origin: `http://${host}` })).toBe(200);
  expect(await status({ origin: "http://localhost:1" })).toBe(403);
  expect(await status({ origin: "https://evil.example" })).toBe(403);
  expect(await status({ origin: "null" })).toBe(403);
  expect(await status({ host: "evil.example" })).toBe(403);
  expect(await status({ "content-type": "text/plain" })).toBe(415);
});

test("there are no sessions to open or end", async () => {
  for (const method of ["GET", "DELETE"]) {
    const answer = await fetch(`${bed.url}/mcp`, { method, headers: { accept: "text/event-stream" } });
    expect({ method, status: answer.status }).toEqual({ method, status: 405 });
  }
});

test("a server on stdio outlives the daemon, and finds the next one", async () => {
  const client = await bed.stdio();
  const before = await client.call("list_projects", {});
  await bed.stopDaemon("SIGKILL");
  await bed.startDaemon();
  expect(await client.call("list_projects", {})).toEqual(before);
});

test("stdout carries only the protocol, and the server exits with its stdin", async () => {
  const server = Bun.spawn([COMMAND, ...mcpArguments("--tools", "core")], {
    cwd: bed.root,
    env: bed.environment,
    stdin: "pipe",
    stdout: "pipe",
    stderr: "pipe",
  });
  const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "raw", version: "1" } };
  const messages = [
    { jsonrpc: "2.0", id: 1, method: "initialize", params },
    { jsonrpc: "2.0", method: "notifications/initialized" },
    { jsonrpc: "2.0", id: 2, method: "tools/list" },
  ];
  for (const message of messages) server.stdin.write(`${JSON.stringify(message)}\n`);
  await server.stdin.flush();
  let text = "";
  for await (const chunk of server.stdout.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    // Requests without an answer end with the input.
    if (text.trimEnd().split("\n").length >= 2 && text.endsWith("\n")) await server.stdin.end();
  }
  expect(await server.exited).toBe(0);
  const answers = text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(answers.map(({ id }) => id)).toEqual([1, 2]);
  expect(answers[1].result.tools).toHaveLength(10);
  expect(await new Response(server.stderr).text()).toBe("");
});
