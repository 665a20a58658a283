import { expect, test } from "bun:test";
import { findDaemon } from "../../src/daemon/find-daemon.ts";
import { cliWorld, MAIN } from "./cli-bed.ts";

test("mcp prints nothing but the protocol, starts the daemon whenever a tool needs it, and exits with its client", async () => {
  const world = cliWorld();
  const child = Bun.spawn([process.execPath, MAIN, "mcp"], {
    cwd: world.work,
    env: world.environment,
    stdin: "pipe",
    stdout: "pipe",
    stderr: "pipe",
  });
  const lines = linesOf(child.stdout);
  const ask = async (id: number, method: string, params: object) => {
    child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    child.stdin.flush();
    for (;;) {
      const answer = JSON.parse((await lines.next()).value ?? "null");
      if (answer.id === id) return answer.result;
    }
  };
  const client = { name: "test", version: "1" };
  const hello = await ask(1, "initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: client });
  expect(hello.serverInfo.name).toBe("asyncagents");
  child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" })}\n`);
  const list = () => ({ name: "list_projects", arguments: {} });
  expect((await ask(2, "tools/call", list())).structuredContent.count).toBe(0);
  const first = findDaemon(world.data);
  if (!first) throw new Error("no daemon");
  process.kill(first.pid, "SIGKILL");
  while (findDaemon(world.data)?.pid === first.pid) await Bun.sleep(5);
  expect((await ask(3, "tools/call", list())).structuredContent.count).toBe(0);
  expect(findDaemon(world.data)?.pid).not.toBe(first.pid);
  child.stdin.end();
  expect(await child.exited).toBe(0);
  expect(await new Response(child.stderr).text()).toBe("");
  await world.cli("down");
});

async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string, void> {
  let rest = "";
  const decoder = new TextDecoder();
  for await (const chunk of stream) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
}
