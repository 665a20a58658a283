/**
 * The lifetime of the status API's server in the real OpenCode: ports, discovery, signals, the switch that turns it
 * off.
 */
import { afterAll, afterEach, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, readlinkSync, rmSync, statSync } from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { startOpenAiModel } from "../../../src/testing/models/openai-model.ts";
import { say } from "../../../src/testing/models/script.ts";
import { startOpenCode } from "../../../src/testing/opencode/harness.ts";
import { createTemporaryRoot } from "../../../src/testing/opencode/home.ts";
import { type Api, World, type WorldOptions } from "../world.ts";

const DEFAULT_PORT = 5165;
const model = startOpenAiModel();
const worlds: World[] = [];
const servers: Server[] = [];
afterEach(async () => {
  for (const world of worlds.splice(0)) await world.stop();
  for (const server of servers.splice(0)) server.close();
});
afterAll(() => model.stop());

async function start(options: WorldOptions = {}): Promise<World> {
  const world = await World.start({ model, ...options });
  worlds.push(world);
  return world;
}

function discovery(world: World): { port: number; pid: number; startedAt: string; url: string } {
  return JSON.parse(readFileSync(join(world.storage, "server.json"), "utf8"));
}

/** Occupies a port; false if it is in use. */
async function occupy(port: number): Promise<boolean> {
  const server = createServer((socket) => socket.destroy());
  const { promise, resolve } = Promise.withResolvers<boolean>();
  server.once("error", () => resolve(false));
  server.listen({ port, host: "127.0.0.1", exclusive: true }, () => resolve(true));
  const taken = await promise;
  if (taken) servers.push(server);
  return taken;
}

/** Occupies this many ports in a row; returns the first. */
async function occupyRow(count: number): Promise<number> {
  for (let first = 20_000 + (process.pid % 20_000); ; first += count) {
    let got = 0;
    while (got < count && (await occupy(first + got))) got++;
    if (got === count) return first;
  }
}

/** Frees the port that was occupied last. */
async function giveBack(): Promise<void> {
  const server = servers.pop();
  await new Promise((resolve) => (server ? server.close(resolve) : resolve(null)));
}

function isRefused(port: number, host: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host });
    socket.once("error", () => resolve(true));
    socket.once("connect", () => resolve(!socket.destroy()));
  });
}

/** Whether the default port is free now. */
async function isDefaultFree(): Promise<boolean> {
  const free = await occupy(DEFAULT_PORT);
  if (free) await giveBack();
  return free;
}

async function expectDefaults(world: World, free: boolean): Promise<void> {
  const id = await (await world.parent()).launch([say("x")]);
  const { port, url, startedAt } = discovery(world);
  expect(Date.parse(startedAt)).toBeLessThanOrEqual((await world.task(id)).startedAt);
  expect(url).toBe(`http://127.0.0.1:${port}`);
  // If the port is in use, the server is on one of the next: the other test covers that.
  if (free) expect(port).toBe(DEFAULT_PORT);
  else expect(port).toBeGreaterThan(DEFAULT_PORT);
  expect((await fetch(`${url}/v1/health`)).status).toBe(200);
  if (process.platform === "linux") expect(await isRefused(port, "127.0.0.2")).toBe(true);
  await world.ended(id);
}

test("the port can be set; ports in use are skipped, up to nine of them [AT-16.2, AT-F-01]", async () => {
  const first = await occupyRow(10);
  await giveBack();
  const world = await start({ env: { ASYNCAGENTS_API_PORT: String(first) } });
  const { port, client } = await world.api();
  expect(port).toBe(first + 9);
  expect((await client.health()).pid).toBe(world.opencode.pid);
});

test("by default it listens on 127.0.0.1 at 5165 before any tool call is executed, and server.json names the newest live server [AT-16.1, AT-16.3, AT-24.1, AT-24.2, AT-24.3, AT-F-01]", async () => {
  const began = Date.now();
  const free = await isDefaultFree();
  const older = await start({ env: { ASYNCAGENTS_API_PORT: "" } });
  await expectDefaults(older, free);
  const own = discovery(older);
  const { port, pid, startedAt, url } = own;
  expect([typeof port, pid, url]).toEqual(["number", older.opencode.pid, `http://127.0.0.1:${port}`]);
  expect(new Date(startedAt).toISOString()).toBe(startedAt);
  expect(Date.parse(startedAt)).toBeGreaterThanOrEqual(began);
  expect(Date.parse(startedAt)).toBeLessThanOrEqual(Date.now());
  expect(statSync(join(older.storage, "server.json")).mode & 0o777).toBe(0o600);
  expect(await (await fetch(`${url}/v1/health`)).json()).toMatchObject({ status: "ok", pid });

  const newer = await start({ home: older.opencode.home });
  await newer.api();
  expect(discovery(older).pid).toBe(newer.opencode.pid);
  expect(readdirSync(join(older.storage, "servers")).toSorted()).toEqual(
    [older, newer].map(({ opencode }) => `${opencode.pid}.json`).toSorted(),
  );
  await newer.opencode.kill("SIGTERM");
  expect(discovery(older)).toEqual(own);

  // A killed process leaves its file, and the next one replaces it.
  await older.opencode.kill("SIGKILL");
  expect(discovery(older)).toEqual(own);
  await older.opencode.restart();
  await older.api();
  expect(discovery(older).pid).toBe(older.opencode.pid);
  expect(readdirSync(join(older.storage, "servers"))).toEqual([`${older.opencode.pid}.json`]);
}, 120_000);

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  test(`${signal}: no new connections, pending answers are finished, server.json is gone, OpenCode exits as usual [AT-16.4, AT-24.2]`, async () => {
    const plain = await startOpenCode({ model });
    const asEver = await plain.kill(signal).finally(() => plain.stop());
    const world = await start();
    const api = await world.api();
    const stream = await fetch(`${api.url}/v1/events`);
    const halfway = await sendHalf(api);
    const ending = world.opencode.kill(signal);
    // The stream's end shows that the server has started to stop.
    await drained(stream);
    expect(await isRefused(api.port, "127.0.0.1")).toBe(true);
    const answer = await halfway.finish();
    expect(answer).toStartWith("HTTP/1.1 404");
    expect(JSON.parse(answer.slice(answer.indexOf("\r\n\r\n") + 4))).toMatchObject({
      error: { code: "task_not_found" },
    });
    expect(await ending).toEqual(asEver);
    expect([existsSync(join(world.storage, "server.json")), readdirSync(join(world.storage, "servers"))]).toEqual([
      false,
      [],
    ]);
  });
}

test("a process that exits by itself removes its file [AT-24.2]", async () => {
  const folder = await createTemporaryRoot();
  const program = `
    const { existsSync } = await import("node:fs");
    const { holdStorage } = await import(${JSON.stringify(join(import.meta.dir, "../../../src/opencode/storage.ts"))});
    const { readConfiguration } = await import(${JSON.stringify(join(import.meta.dir, "../../../src/configuration/configuration.ts"))});
    const configuration = readConfiguration({ directory: ${JSON.stringify(folder)}, environment: process.env });
    await holdStorage(${JSON.stringify(folder)}, { info() {}, error() {} }, configuration);
    console.log(existsSync(${JSON.stringify(join(folder, "server.json"))}));
    process.exit(0);`;
  const child = Bun.spawn([process.execPath, "-e", program], { env: { ...process.env, ASYNCAGENTS_API_PORT: "0" } });
  expect([await new Response(child.stdout).text(), await child.exited]).toEqual(["true\n", 0]);
  expect([existsSync(join(folder, "server.json")), readdirSync(join(folder, "servers"))]).toEqual([false, []]);
  rmSync(folder, { recursive: true, force: true });
});

test("switched off: no server, no file, and everything else works [AT-16.5]", async () => {
  const world = await start({ env: { ASYNCAGENTS_API_ENABLED: "false", ASYNCAGENTS_API_PORT: "" } });
  const parent = await world.parent();
  const id = await parent.launch([say("without a server")]);
  expect((await world.ended(id)).run.result).toBe("without a server");
  expect((await parent.notice("without a server")).visible).toContain("finished");
  expect(existsSync(join(world.storage, "server.json")) || existsSync(join(world.storage, "servers"))).toBe(false);
  expect(listening(world.opencode.pid)).toEqual([Number(new URL(world.opencode.url).port)]);
});

/** Sends a request except for the last byte of its body; `finish` sends that and returns the whole answer. */
async function sendHalf(api: Api): Promise<{ finish(): Promise<string> }> {
  const body = JSON.stringify({ prompt: "go on" });
  const socket: Socket = connect({ port: api.port, host: "127.0.0.1" });
  const head = [
    "POST /v1/tasks/ses_unknown/resume HTTP/1.1",
    `Host: 127.0.0.1:${api.port}`,
    `Authorization: Bearer ${api.token}`,
    "Content-Type: application/json",
    `Content-Length: ${body.length}`,
    "Connection: close",
  ];
  let received = "";
  socket.on("data", (data) => {
    received += data.toString();
  });
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  await new Promise<void>((resolve) => socket.once("connect", () => resolve()));
  await new Promise<unknown>((resolve) => socket.write(`${head.join("\r\n")}\r\n\r\n${body.slice(0, -1)}`, resolve));
  // An answer to a later request shows that the server has accepted what came before.
  await fetch(`${api.url}/v1/health`);
  return {
    async finish() {
      socket.write(body.slice(-1));
      await closed;
      return received;
    },
  };
}

async function drained(response: Response): Promise<void> {
  const reader = response.body?.getReader();
  while (reader && !(await reader.read()).done) {}
}

/** The ports a process listens on, according to the kernel; only the known one if it cannot be asked. */
function listening(pid: number): number[] {
  if (process.platform !== "linux") return [Number(new URL(worlds.at(-1)?.opencode.url ?? "http://x:0").port)];
  const sockets = new Set(
    readdirSync(`/proc/${pid}/fd`).flatMap((name) => {
      try {
        return /socket:\[(\d+)\]/.exec(readlinkSync(`/proc/${pid}/fd/${name}`))?.[1] ?? [];
      } catch {
        return [];
      }
    }),
  );
  return readFileSync(`/proc/${pid}/net/tcp`, "utf8")
    .split("\n")
    .slice(1)
    .map((line) => line.trim().split(/\s+/))
    .filter((fields) => fields[3] === "0A" && sockets.has(fields[9] ?? ""))
    .map((fields) => Number.parseInt(fields[1]?.split(":")[1] ?? "", 16));
}
