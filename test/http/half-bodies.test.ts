/** Request bodies that arrive only halfway, at a real daemon: they block neither its memory nor its other work. */
import { afterAll, expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { wholeBody } from "../../src/http/request-body.ts";
import { DaemonBed } from "../mcp/daemon-bed.ts";
import { serverRecord } from "./bed/api-bed.ts";

const COUNT = 300;
const SENT_BYTES = 1_900_000;
/** Without a limit it was 485 MB, with it 34 MB; the rest is for the runtime. */
const MAX_GROWTH = 120 * 1024 * 1024;

const bed = await DaemonBed.start();
const sockets: Socket[] = [];
afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  await bed.stop();
});

function residentBytes(pid: number): number {
  return Number(execFileSync("ps", ["-o", "rss=", "-p", String(pid)]).toString()) * 1024;
}

/** Resolves when half of the body is sent, or the server has closed. */
function halfSent(port: number, head: readonly string[]): Promise<void> {
  const socket = connect(port, "127.0.0.1");
  sockets.push(socket.resume());
  const sent = Promise.withResolvers<void>();
  socket.on("error", () => sent.resolve());
  socket.on("close", () => sent.resolve());
  socket.on("connect", () => {
    socket.write([...head, `Content-Length: ${SENT_BYTES + 1}`, "", ""].join("\r\n"));
    socket.write(Buffer.alloc(SENT_BYTES, 32), () => sent.resolve());
  });
  return sent.promise;
}

test(`${COUNT} half-sent bodies on /mcp take little memory, and the daemon keeps answering`, async () => {
  const data = join(bed.root, "data");
  const { port, pid } = serverRecord(data);
  const token = readFileSync(join(data, "token"), "utf8").trim();
  const head = [
    "POST /mcp HTTP/1.1",
    "Host: localhost",
    "Content-Type: application/json",
    `Authorization: Bearer ${token}`,
  ];
  const tools = await bed.http();
  expect(await tools.names()).toContain("list_projects");
  const before = residentBytes(pid);
  let most = 0;
  for (let index = 0; index < COUNT; index += 20) {
    await Promise.all(Array.from({ length: 20 }, () => halfSent(port, head)));
    most = Math.max(most, residentBytes(pid));
  }
  expect((await fetch(`${bed.url}/v1/health`)).status).toBe(200);
  expect(await tools.names()).toContain("list_projects");
  expect(most - before).toBeLessThan(MAX_GROWTH);
  expect(sockets.filter(({ destroyed }) => !destroyed).length).toBeLessThan(COUNT / 4);
}, 60_000);

test("a body that does not arrive in time is rejected, and one in many small pieces is complete", async () => {
  const never = new ReadableStream<Uint8Array>({ start: (controller) => controller.enqueue(new Uint8Array(3)) });
  const init = { method: "POST", duplex: "half" } as const;
  const local = { token: null };
  const late = wholeBody(new Request("http://localhost", { ...init, body: never }), local, {
    maxBytes: 10,
    arrivalMs: 20,
  });
  expect(await late.catch((thrown) => thrown.code)).toBe("request_timeout");
  const pieces = new ReadableStream<Uint8Array>({
    start(controller) {
      for (let index = 0; index < 1000; index++) controller.enqueue(new TextEncoder().encode("ä"));
      controller.close();
    },
  });
  const request = new Request("http://localhost", { ...init, body: pieces });
  expect(new TextDecoder().decode(await wholeBody(request, local, { maxBytes: 2000 }))).toBe("ä".repeat(1000));
});
