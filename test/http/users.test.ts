/**
 * Another user of the machine against a server with a task, a token and an MCP endpoint. Root can become another
 * user; other users cannot, so there the server is made to believe that it runs as someone else. `ASYNCAGENTS_TRIES`
 * sets how often each attack is tried.
 */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { userIn } from "../../src/http/access/peer-user.ts";
import { ROUTES } from "../../src/http/routes.ts";
import { mcpHandler } from "../../src/mcp/mcp-handler.ts";
import type { CallOperation } from "../../src/protocol/operations.ts";
import { create } from "../../src/testing/sample-task.ts";
import { newWorld } from "../engine/engine-bed.ts";
import { type Api, startApi } from "./bed/api-bed.ts";

const TRIES = Number(process.env.ASYNCAGENTS_TRIES ?? 50);
const LIMIT_MS = 60_000 + TRIES * 200;
const OWN = process.geteuid?.() ?? 0;
const IS_ROOT = OWN === 0;
const OTHER = IS_ROOT ? 54_321 : OWN;
const SECRET = "what only the owner may read";
const PROGRAM = readFileSync(join(import.meta.dir, "bed/other-user.mjs"), "utf8");

const LAUNCH = {
  method: "POST",
  path: "/mcp",
  body: JSON.stringify({
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params: { name: "launch_task", arguments: { description: "x", prompt: "!write x", directory: "/tmp" } },
  }),
};

interface Asked {
  method: string;
  path: string;
  body: string;
}

interface Tried {
  user: number;
  statuses: Record<string, number>;
  texts: string[];
  tried: number;
}

let api: Api;
let stream: Socket;
const done: string[] = [];
const geteuid = process.geteuid;

const call = (async (name: string) => {
  if (name !== "get_context") done.push(name);
  return {};
}) as unknown as CallOperation;

beforeEach(async () => {
  // Its own file modes have to protect its content.
  const world = newWorld();
  chmodSync(world.directory, 0o755);
  const mcp = mcpHandler({ call, version: "1", toolset: "extended", scripted: true, log: { info() {}, error() {} } });
  api = await startApi({ world, daemon: { board: call, mcp } });
  await create(api.store, "one", { prompt: SECRET, description: SECRET });
  if (!IS_ROOT) process.geteuid = () => OWN + 1;
  stream = connect({ port: api.server.port, host: "127.0.0.1" });
  stream.write(`GET /v1/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${api.token}\r\n\r\n`);
  await once(stream, "data");
  stream.resume();
});

afterEach(() => {
  stream.destroy();
  if (geteuid) process.geteuid = geteuid;
});

/** Everything that can be requested, except what is open to everyone. */
function everyRequest(): Asked[] {
  const routes = ROUTES.filter(({ operation }) => operation.access !== "open").map(({ method, path }) => ({
    method,
    path: path.replace(":id", "one"),
    body: method === "POST" ? "{}" : "",
  }));
  return [LAUNCH, ...routes, { method: "GET", path: "/v1/nothing", body: "" }];
}

async function asOther(orders: Record<string, unknown>): Promise<Tried> {
  const child = spawn("node", ["--input-type=module", "-e", PROGRAM], {
    uid: OTHER,
    gid: IS_ROOT ? OTHER : undefined,
    cwd: "/",
    stdio: ["pipe", "pipe", "inherit"],
    env: { PATH: process.env.PATH },
  });
  let said = "";
  child.stdout?.on("data", (chunk: Buffer) => {
    said += chunk.toString();
  });
  child.stdin?.end(JSON.stringify({ port: api.server.port, tries: TRIES, requests: everyRequest(), ...orders }));
  await once(child, "close");
  return JSON.parse(said);
}

const who = IS_ROOT
  ? "a program of another user"
  : "a program that the server takes for another user's (only root can start a real one)";

describe(`${who} reads nothing and starts nothing`, () => {
  async function expectRefused(tried: Tried, allowed: readonly string[] = ["401", "403"]): Promise<void> {
    expect(tried.user).toBe(OTHER);
    expect(Object.keys(tried.statuses).filter((status) => !allowed.includes(status))).toEqual([]);
    expect(Object.values(tried.statuses).reduce((sum, count) => sum + count, 0)).toBe(TRIES);
    expect(tried.texts.join("\n")).not.toContain(SECRET);
    expect(tried.texts.join("\n")).not.toContain(api.token);
    // Requests sent without waiting for an answer have been handled once this one is.
    expect((await api.client.health()).status).toBe("ok");
    expect(done).toEqual([]);
    expect((await api.client.tasks()).total).toBe(1);
  }

  test(
    "with plain requests for everything there is",
    async () => {
      await expectRefused(await asOther({ way: "plain" }));
    },
    LIMIT_MS,
  );

  test(
    "with forged headers",
    async () => {
      await expectRefused(await asOther({ way: "headers" }));
    },
    LIMIT_MS,
  );

  test(
    "when it resets the connection right after its request",
    async () => {
      await expectRefused(await asOther({ way: "reset", requests: [LAUNCH] }), ["", "403"]);
    },
    LIMIT_MS,
  );

  test(
    "when it closes the connection right after its request",
    async () => {
      await expectRefused(await asOther({ way: "fin", requests: [LAUNCH] }), ["", "403"]);
    },
    LIMIT_MS,
  );

  test(
    "from the port of the owner's open stream at another address",
    async () => {
      const token = { method: "GET", path: "/v1/token", body: "" };
      const list = { method: "GET", path: "/v1/tasks", body: "" };
      const tried = await asOther({ way: "port", ownerPort: stream.localPort, requests: [token, list, LAUNCH] });
      await expectRefused(tried);
    },
    LIMIT_MS,
  );

  test(
    "behind an open request on the same connection",
    async () => {
      await expectRefused(await asOther({ way: "pipelined" }));
    },
    LIMIT_MS,
  );

  test(
    "by reading the data folder, even if others may enter it",
    async () => {
      const tried = await asOther({ way: "files", folder: api.world.directory });
      expect(tried.tried).toBeGreaterThanOrEqual(TRIES * 4);
      // Without root the test owns these files, and can only show that nobody else may read them.
      if (IS_ROOT) expect(tried.texts).toEqual([]);
      const open = spawnSync("find", [api.world.directory, "-type", "f", "-perm", "/077"]);
      expect(open.stdout.toString()).toBe("");
    },
    LIMIT_MS,
  );

  test(
    "when the owner gets the port of a connection that it reset while the server was busy",
    async () => {
      // Below the system's own range of ports, and different for each process.
      const lowest = 12_000 + (process.pid % 80) * 200;
      const ports = Array.from({ length: Math.min(TRIES, 200) }, (_, index) => lowest + index);
      const orders = { way: "reset", requests: [LAUNCH], port: api.server.port };
      // The server is blocked, because it runs in this same process: it sees both connections only afterwards.
      const stolen = spawnSync("node", ["--input-type=module", "-e", REUSE], {
        input: JSON.stringify({ ...orders, ports, other: OTHER }),
        env: { PATH: process.env.PATH },
        timeout: LIMIT_MS,
      });
      expect(stolen.stdout.toString()).toContain("both sent");
      expect((await api.client.health()).status).toBe("ok");
      expect(done).toEqual([]);
    },
    LIMIT_MS,
  );
});

/**
 * As the other user: sends from these ports and resets. Then, as the owner: connects from the same ports, and stays
 * for a moment.
 */
const REUSE = `
  import { spawn, spawnSync } from "node:child_process";
  import { readFileSync } from "node:fs";
  const { ports, port, requests: [{ path, body }], other } = JSON.parse(readFileSync(0, "utf8"));
  const bytes = ["POST " + path + " HTTP/1.1", "Host: localhost", "Content-Type: application/json",
    "Accept: application/json, text/event-stream", "Content-Length: " + body.length, "", body].join("\\r\\n");
  const sender = (leave) => \`
    const { connect } = require("node:net");
    let open = \${ports.length};
    let written = 0;
    const tried = () => {
      if (--open === 0 && written > 0) process.stdout.write("sent");
    };
    for (const localPort of \${JSON.stringify(ports)}) {
      const socket = connect({ port: \${port}, host: "127.0.0.1", localPort });
      let connected = false;
      // A port in use is skipped.
      socket.on("error", () => connected || tried());
      socket.on("connect", () => {
        connected = true;
      });
      socket.on("connect", () => socket.write(\${JSON.stringify(leave ? bytes : "GET /v1/stats HTTP/1.1\\r\\nHost: localhost\\r\\n\\r\\n")}, () => {
        \${leave ? "socket.resetAndDestroy();" : ""}
        written++;
        tried();
      }));
    }
    setTimeout(() => process.exit(), \${leave ? 3000 : 2000}).unref();
    \${leave ? "" : "setTimeout(() => {}, 2000);"}
  \`;
  const first = spawnSync("node", ["-e", sender(true)], { uid: other, cwd: "/" });
  const second = spawn("node", ["-e", sender(false)], { detached: true, stdio: ["ignore", "pipe", "ignore"] });
  second.stdout.once("data", () => {
    console.log(first.stdout.toString() === "sent" ? "both sent" : "the first did not send");
    second.unref();
    process.exit();
  });
`;

describe("the kernel's table", () => {
  const peer = { address: "127.0.0.1", port: 50_000 };
  const own = { address: "127.0.0.1", port: 5173 };
  const row = (ends: string, { state = "01", user = 1001, inode = 12 } = {}) =>
    `   1: ${ends} ${state} 00000000:00000000 00:00000000 00000000  ${user}        0 ${inode} 1 0 20 4 30 10 -1`;
  const table = (...rows: string[]) => ["  sl  local_address rem_address   st", ...rows, ""].join("\n");
  const server = row("0100007F:1435 0100007F:C350", { user: 0 });
  const ends = "0100007F:C350 0100007F:1435";

  test("identifies the owner of a connection by both of its ends", () => {
    expect(userIn(table(server, row(ends)), peer, own)).toBe(1001);
    expect(userIn(table(server), peer, own)).toBe("absent");
    expect(userIn(table(row("0300007F:C350 0100007F:1435")), peer, own)).toBe("absent");
    expect(userIn(table(row("0100007F:C350 0300007F:1435")), peer, own)).toBe("absent");
    expect(userIn(table(row("0100007F:C351 0100007F:1435")), peer, own)).toBe("absent");
    expect([userIn("", peer, own), userIn("garbage", peer, own)]).toEqual(["absent", "absent"]);
    expect(userIn(table(row(ends)), { ...peer, address: "::1" }, own)).toBeNull();
    const mapped = "0000000000000000FFFF0000";
    const six = table(row(`${mapped}0100007F:C350 ${mapped}0100007F:1435`, { user: 7 }));
    expect(userIn(six, peer, own, mapped)).toBe(7);
  });

  test("says nothing about a connection that is closed, has no socket, or appears twice", () => {
    for (const state of ["02", "03", "04", "05", "06", "07", "08", "09", "0A", "0B", "0C"]) {
      expect([state, userIn(table(row(ends, { state })), peer, own)]).toEqual([state, null]);
    }
    expect(userIn(table(row(ends, { inode: 0 })), peer, own)).toBeNull();
    expect(userIn(table(row(ends), row(ends, { user: 0, inode: 13 })), peer, own)).toBeNull();
    // The kernel returns it in pieces, so a row may appear twice.
    expect(userIn(table(row(ends), row(ends)), peer, own)).toBe(1001);
  });
});
