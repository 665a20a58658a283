/**
 * MCP clients of both generations, each in front of the real handler over a `CallOperation` that the test defines.
 * There is no socket in between: the client's fetch is the handler.
 */
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client as OldClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as OldTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { mcpHandler } from "../../src/mcp/mcp-handler.ts";
import { AsyncAgentsError } from "../../src/model/errors.ts";
import type { Toolset } from "../../src/protocol/operation.ts";
import type { CallOperation } from "../../src/protocol/operations.ts";

export type Answers = Record<string, (input: Record<string, unknown>, signal?: AbortSignal) => unknown>;

export interface Door {
  call: CallOperation;
  /** All operations that arrived, except context lookups. */
  calls: { name: string; input: Record<string, unknown> }[];
}

/** Returns what the test defined; anything else is not found. */
export function door(answers: Answers): Door {
  const calls: Door["calls"] = [];
  const call = async (name: string, input: Record<string, unknown>, options?: { signal?: AbortSignal }) => {
    if (name !== "get_context") calls.push({ name, input });
    const answer = answers[name];
    if (!answer) throw new AsyncAgentsError("not_found", `There is no ${name} here.`, { details: { what: "project" } });
    return answer(input, options?.signal);
  };
  return { call: call as CallOperation, calls };
}

export interface DoorOptions {
  toolset?: Toolset;
  headers?: Record<string, string>;
  query?: string;
  /** The toolset if a test does not specify one. */
  scripted?: boolean;
}

function transportOptions(call: CallOperation, { toolset = "extended", headers = {}, scripted = true }: DoorOptions) {
  const handle = mcpHandler({ call, toolset, scripted, version: "1.2.3", log: { info() {}, error() {} } });
  const fetch = (url: string | URL, init?: RequestInit) => handle(new Request(String(url), init), { token: null });
  return { fetch, requestInit: { headers } };
}

/** A client of the newest protocol. */
export async function newClient(call: CallOperation, options: DoorOptions = {}): Promise<Client> {
  const client = new Client({ name: "new", version: "1" }, { versionNegotiation: { mode: { pin: "2026-07-28" } } });
  const url = new URL(`http://localhost/mcp${options.query ?? ""}`);
  await client.connect(new StreamableHTTPClientTransport(url, transportOptions(call, options)));
  return client;
}

/** A client of the previous generation. */
export async function oldClient(call: CallOperation, options: DoorOptions = {}): Promise<OldClient> {
  const client = new OldClient({ name: "old", version: "1" });
  const url = new URL(`http://localhost/mcp${options.query ?? ""}`);
  const transport = new OldTransport(url, transportOptions(call, options) as never);
  await client.connect(transport as Parameters<OldClient["connect"]>[0]);
  return client;
}

export function textOf(result: unknown): string {
  const { content } = result as { content: { type: string; text?: string }[] };
  return content.map(({ text }) => text ?? "").join("\n");
}

/** The message of a failed call. */
export function errorOf(result: unknown): Record<string, unknown> {
  return JSON.parse(textOf(result));
}
