/**
 * A server with its two doors, a board, scripted agents and a real store, and a token for each role. Everything ends
 * with the test.
 */
import { afterEach } from "bun:test";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { NO_OTHERS } from "../../../src/board/remote-operations.ts";
import { TaskWorktrees } from "../../../src/board/worktrees/task-worktrees.ts";
import { TokenCheck } from "../../../src/engine/access/token-check.ts";
import { Desk } from "../../../src/engine/desk.ts";
import { Overview } from "../../../src/engine/watching/overview.ts";
import { folderToken } from "../../../src/http/access/token-file.ts";
import { hashOfSecret, newTokenSecret } from "../../../src/http/access/token-secret.ts";
import { type ApiServer, startApiServer } from "../../../src/http/server.ts";
import { mcpHandler } from "../../../src/mcp/mcp-handler.ts";
import type { NewBudgets } from "../../../src/model/budgets/budget.ts";
import { ROLES, type Role } from "../../../src/model/role.ts";
import { systemClock } from "../../../src/process/clock.ts";
import { isInstanceAlive } from "../../../src/process/liveness.ts";
import { openSide, type Side } from "../../board/board-side.ts";

interface TokenBedOptions {
  publicUrls?: string[];
  proxies?: string[];
  scriptedForModels?: boolean;
  /** Those of launches that bring none. */
  budgets?: NewBudgets;
}

export interface TokenBed {
  side: Side;
  server: ApiServer;
  /** The door to other machines, and its port. */
  url: string;
  port: number;
  /** The token of the data folder, which must not work there. */
  folderToken: string;
  secrets: Record<Role, string>;
  logged: string[];
  /** A new token; its id is its name. */
  token(name: string, role: Role, expiresAt?: number): Promise<string>;
  ask(path: string, secret?: string, init?: RequestInit): Promise<Response>;
  post(path: string, body: unknown, secret?: string, headers?: Record<string, string>): Promise<Response>;
}

const endings: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});

export async function startTokenBed(options: TokenBedOptions = {}): Promise<TokenBed> {
  const { publicUrls = [], proxies = [], scriptedForModels = true, budgets = {} } = options;
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "asyncagents-doors-")));
  endings.push(async () => rmSync(folder, { recursive: true, force: true }));
  const side = await openSide(folder, { scriptedForModels, budgets });
  endings.push(() => side.close());
  await side.board.start();
  const { store, board, runner, logged } = side;
  const note = (message: string, details?: object) => void logged.push(`${message} ${JSON.stringify(details ?? {})}`);
  const log = { info: note, error: note };
  const server = startApiServer({
    overview: new Overview(store),
    desk: new Desk({
      store,
      budgets,
      isAlive: isInstanceAlive,
      engines: () => runner.engines(),
      open: (host, path) => runner.open(host, path),
    }),
    remote: NO_OTHERS,
    directory: folder,
    log,
    port: 0,
    origins: [],
    daemon: {
      board: board.call,
      mcp: mcpHandler({ call: board.call, version: "1", toolset: "extended", scripted: true, log }),
      assertWorkplace: board.assertWorkplace,
      assertRepo: board.assertRepo,
    },
    taskWorktrees: new TaskWorktrees({ ...systemClock, store, worktrees: side.worktrees }),
    listen: {
      settings: { address: "127.0.0.1", port: 0, publicUrls, proxies },
      tokens: new TokenCheck({ store, now: Date.now }),
    },
  });
  endings.push(() => server.stop());
  const token: TokenBed["token"] = async (name, role, expiresAt) => {
    const secret = newTokenSecret();
    const fields = { createdAt: 1, expiresAt: expiresAt ?? null, lastUsedAt: null, revokedAt: null };
    await store.access.addToken({ id: name, name, role, ...fields }, hashOfSecret(secret));
    return secret;
  };
  const made = await Promise.all(ROLES.map(async (role) => [role, await token(`the-${role}`, role)] as const));
  const url = server.listen ?? "";
  const ask: TokenBed["ask"] = (path, secret, init = {}) => {
    const headers = new Headers(init.headers);
    if (secret !== undefined) headers.set("authorization", `Bearer ${secret}`);
    return fetch(`${url}${path}`, { ...init, headers });
  };
  return {
    side,
    server,
    url,
    port: Number(new URL(url).port),
    folderToken: folderToken(folder),
    secrets: Object.fromEntries(made) as Record<Role, string>,
    logged,
    token,
    ask,
    post: (path, body, secret, headers = {}) =>
      ask(path, secret, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body: JSON.stringify(body),
      }),
  };
}

/** Calls a tool over MCP, and returns the text of the answer. */
export function callTool(bed: TokenBed, secret: string, name: string, input: object): Promise<string> {
  return askMcp(bed, secret, "tools/call", { name, arguments: input });
}

/** Sends a request over MCP, and returns the text of the answer. */
export async function askMcp(bed: TokenBed, secret: string, method: string, params: object): Promise<string> {
  const headers = { accept: "application/json, text/event-stream", "x-asyncagents-depth": "0" };
  return (await bed.post("/mcp", { jsonrpc: "2.0", id: 1, method, params }, secret, headers)).text();
}
