/** Real Bun processes, each with its own status API (`api-process.ts`); each is ended by its pid after the test. */
import { join } from "node:path";
import { type Client, createClient } from "../../../src/client/client.ts";
import { attachLifeline } from "../../../src/testing/lifeline.ts";
import type { World } from "../../engine/engine-bed.ts";
import { atEnd, serverRecord } from "./api-bed.ts";

export interface ApiChild {
  pid: number;
  url: string;
  port: number;
  token: string;
  client: Client;
  /** Sends a line and returns the next line it prints. */
  tell(line: string): void;
  said(): Promise<string>;
  /** Shuts down in order; resolves with everything it wrote to stderr. */
  end(): Promise<string>;
  kill(): Promise<void>;
}

export async function startChild(world: World, directory = "/other", heartbeatMs?: number): Promise<ApiChild> {
  const folder = world.directory;
  const script = join(import.meta.dir, "api-process.ts");
  const heartbeat = heartbeatMs === undefined ? [] : [String(heartbeatMs)];
  const child = Bun.spawn([process.execPath, script, folder, directory, ...heartbeat], {
    stdio: ["pipe", "pipe", "pipe"],
  });
  const release = attachLifeline(child.pid, join(folder, "nothing"));
  const lines = linesOf(child.stdout);
  const errors = new Response(child.stderr).text();
  const said = async () => (await lines.next()).value ?? "";
  const url = (await said()).replace("ready ", "");
  if (!url.startsWith("http")) throw new Error(`the process did not start: ${await errors}`);
  const { token, port } = serverRecord(folder, `servers/${child.pid}.json`);
  const started: ApiChild = {
    pid: child.pid,
    url,
    port,
    token,
    client: createClient({ url, token }),
    said,
    tell(line) {
      child.stdin.write(`${line}\n`);
      child.stdin.flush();
    },
    async end() {
      child.stdin.end();
      await child.exited;
      release();
      return errors;
    },
    async kill() {
      child.kill("SIGKILL");
      await child.exited;
      release();
    },
  };
  atEnd(world, () => started.kill());
  return started;
}

async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string, void> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const bytes of stream) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
}
