/**
 * An MCP client of the daemon: lists its tools, launches a task in this folder and waits for it.
 * Run it: bun examples/mcp-client.ts "hello" SCRIPTED      (start the daemon with ASYNCAGENTS_SCRIPTED=1 for SCRIPTED)
 * The first run is rejected in a folder outside all projects, and says how to approve the folder.
 */
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { findServer } from "./find-server.ts";

const [prompt = "hello", executor = "SCRIPTED"] = process.argv.slice(2);
const { url, token } = findServer();
const client = new Client({ name: "example", version: "1.0.0" });
// The depth says that no agent of asyncagents started this program.
const headers = { authorization: `Bearer ${token}`, "x-asyncagents-depth": "0" };
await client.connect(new StreamableHTTPClientTransport(new URL("/mcp", url), { requestInit: { headers } }));

async function call(name: string, input: Record<string, unknown>): Promise<Record<string, unknown>> {
  const { structuredContent, isError, content } = await client.callTool({ name, arguments: input });
  const [first] = content;
  // The text of a failed call is JSON; its `error` says what to do.
  if (isError) throw new Error(first?.type === "text" ? JSON.parse(first.text).error : "no reason given");
  return structuredContent as Record<string, unknown>;
}

try {
  const { tools } = await client.listTools();
  console.log(`${tools.length} tools, such as ${tools[0]?.name}`);
  const { handle } = await call("launch_task", { prompt, executor, directory: process.cwd() });
  const { tasks } = await call("wait_tasks", { handles: [handle], wait_ms: 50_000 });
  console.log(JSON.stringify(tasks));
} catch (thrown) {
  console.error(thrown instanceof Error ? thrown.message : thrown);
  process.exitCode = 1;
} finally {
  await client.close();
}
