/**
 * The HTTP calls that tests make to a running OpenCode, typed with the SDK's types, one method per endpoint. Invariant:
 * a response other than 2xx is thrown with its status and body, and every call has a timeout. Not the SDK's client:
 * that one returns errors as values, and needs its package at run time.
 */
import type { Message, Part, PermissionRule, Session, SessionStatus } from "@opencode-ai/sdk/v2";

export interface MessageWithParts {
  info: Message;
  parts: Part[];
}

export interface RequestOptions {
  body?: unknown;
  query?: Record<string, string | number | undefined>;
  /** Null sends no directory at all. */
  directory?: string | null;
  timeoutMs?: number;
}

export interface CreateSession {
  parentID?: string;
  title?: string;
  agent?: string;
  model?: { providerID: string; id: string };
  permission?: PermissionRule[];
  metadata?: Record<string, unknown>;
}

export interface PromptOptions {
  agent?: string;
  messageID?: string;
  noReply?: boolean;
  synthetic?: boolean;
  model?: { providerID: string; modelID: string };
  tools?: Record<string, boolean>;
  system?: string;
  timeoutMs?: number;
}

export class OpenCodeHttpError extends Error {
  readonly status: number;
  readonly body: string;

  constructor(what: string, status: number, body: string) {
    super(`${what} answered ${status}: ${body.slice(0, 500)}`);
    this.name = "OpenCodeHttpError";
    this.status = status;
    this.body = body;
  }
}

export class OpenCodeClient {
  /** Changes when the process is restarted. */
  url: string;
  readonly directory: string;

  constructor(url: string, directory: string) {
    this.url = url;
    this.directory = directory;
  }

  /** Any endpoint: the raw response, whatever its status. */
  async fetch(method: string, path: string, options: RequestOptions = {}): Promise<Response> {
    const target = new URL(path, this.url);
    const { directory = this.directory, timeoutMs = 60_000 } = options;
    if (directory !== null) target.searchParams.set("directory", directory);
    for (const [key, value] of Object.entries(options.query ?? {})) {
      if (value !== undefined) target.searchParams.set(key, String(value));
    }
    const body = options.body === undefined ? {} : { body: JSON.stringify(options.body) };
    const headers = { "content-type": "application/json" };
    try {
      return await fetch(target, { method, headers, ...body, signal: AbortSignal.timeout(timeoutMs) });
    } catch (cause) {
      throw new Error(`${method} ${path} got no response within ${timeoutMs} ms or lost its connection: ${cause}`, {
        cause,
      });
    }
  }

  /** Any endpoint: the JSON of a 2xx response, undefined if it is empty. */
  async request<T>(method: string, path: string, options: RequestOptions = {}): Promise<T> {
    const response = await this.fetch(method, path, options);
    const text = await response.text();
    if (!response.ok) throw new OpenCodeHttpError(`${method} ${path}`, response.status, text);
    return (text === "" ? undefined : JSON.parse(text)) as T;
  }

  createSession(input: CreateSession = {}, directory?: string): Promise<Session> {
    return this.request("POST", "/session", { body: input, ...at(directory) });
  }

  session(id: string): Promise<Session> {
    return this.request("GET", `/session/${id}`);
  }

  sessions(): Promise<Session[]> {
    return this.request("GET", "/session");
  }

  children(id: string): Promise<Session[]> {
    return this.request("GET", `/session/${id}/children`);
  }

  /** Contains only sessions that are not idle. */
  statuses(directory?: string): Promise<Record<string, SessionStatus>> {
    return this.request("GET", "/session/status", at(directory));
  }

  messages(id: string, query: { limit?: number; before?: string } = {}): Promise<MessageWithParts[]> {
    return this.request("GET", `/session/${id}/message`, { query });
  }

  /** Waits for the end of the turn, except with `noReply`. */
  prompt(id: string, text: string, options: PromptOptions = {}): Promise<MessageWithParts> {
    const { timeoutMs = 60_000, ...rest } = options;
    return this.request("POST", `/session/${id}/message`, { body: promptBody(text, rest), timeoutMs });
  }

  /** Returns as soon as OpenCode has accepted the prompt. */
  async promptAsync(id: string, text: string, options: PromptOptions = {}): Promise<void> {
    const { timeoutMs: _, ...rest } = options;
    await this.request("POST", `/session/${id}/prompt_async`, { body: promptBody(text, rest) });
  }

  abort(id: string): Promise<boolean> {
    return this.request("POST", `/session/${id}/abort`);
  }

  /** Resolves when the summary is written. */
  summarize(id: string, model: { providerID: string; modelID: string }): Promise<boolean> {
    return this.request("POST", `/session/${id}/summarize`, { body: model, timeoutMs: 60_000 });
  }

  deleteSession(id: string): Promise<boolean> {
    return this.request("DELETE", `/session/${id}`);
  }

  fork(id: string, messageID?: string): Promise<Session> {
    return this.request("POST", `/session/${id}/fork`, { body: messageID === undefined ? {} : { messageID } });
  }

  replyPermission(requestId: string, reply: "once" | "always" | "reject", message?: string): Promise<boolean> {
    const body = message === undefined ? { reply } : { reply, message };
    return this.request("POST", `/permission/${requestId}/reply`, { body });
  }

  replyQuestion(requestId: string, answers: string[][]): Promise<boolean> {
    return this.request("POST", `/question/${requestId}/reply`, { body: { answers } });
  }
}

function at(directory: string | undefined): RequestOptions {
  return directory === undefined ? {} : { directory };
}

function promptBody(text: string, options: Omit<PromptOptions, "timeoutMs">): object {
  const { synthetic, ...rest } = options;
  return { ...rest, parts: [{ type: "text", text, ...(synthetic ? { synthetic } : {}) }] };
}

/** The text of a message as a person sees it. */
export function messageText(message: MessageWithParts): string {
  return message.parts.flatMap((part) => (part.type === "text" && !part.synthetic ? [part.text] : [])).join("");
}
