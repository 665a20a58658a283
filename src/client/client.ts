/**
 * The status API's typed client, for Node 20, Bun and browsers, without dependencies. Its methods are derived from
 * the table of operations; only irregular ones are written out. Failures are AsyncAgentsError with the server's code.
 * `events` reconnects by itself and reports it.
 */
import { AsyncAgentsError } from "../model/errors.ts";
import { type Address, addressOf, STATUS_ADDRESSES, type StatusOperationName } from "../protocol/addresses.ts";
import { type CallOrigin, originHeaders } from "../protocol/call-origin.ts";
import type { LogMessage } from "../protocol/conversations.ts";
import type { CallOperation, OperationInput, OperationName, OperationOutput } from "../protocol/operations.ts";
import type { BackgroundTask } from "../protocol/tasks.ts";
import type { Fetch, StreamEvent, StreamOptions } from "./event-stream.ts";
import { streamEvents } from "./event-stream.ts";
import { failureOf } from "./failure.ts";

export interface ClientOptions {
  /** The server's address, as in server.json; in a page, its own origin. */
  url: string;
  /**
   * The token in server.json. Changes always need it; reading needs it unless the server can tell that the caller is
   * the same user.
   */
  token?: string;
  /** Who makes the calls, if it is not a person. */
  origin?: CallOrigin;
  fetch?: Fetch;
}

/** Which tasks to list. */
export type ListQuery = OperationInput<"tasks">;

export interface LogPage {
  /** Oldest first. */
  messages: LogMessage[];
  /** Give it as `before` to read what came before; null at the beginning. */
  before: string | null;
}

/** The operations whose methods are irregular, and written out. */
type OwnMethod = "logs" | "resume" | "events" | "pageToken";
type DerivedAddresses = Pick<typeof STATUS_ADDRESSES, Exclude<StatusOperationName, OwnMethod>>;

type IdArgument<At extends Address> = At["path"] extends `${string}:id${string}` ? [id: string] : [];
type InputArgument<Name extends StatusOperationName> = {
  query: [query?: OperationInput<Name>];
  body: [body: OperationInput<Name>];
  none: [];
}[Sends<(typeof STATUS_ADDRESSES)[Name]>];
type Sends<At extends Address> = At["sends"] extends string ? At["sends"] : "none";

/** One method per operation. Its arguments: the id, then the input, then a signal that aborts it. */
type DerivedMethods = {
  [Name in keyof DerivedAddresses]: (
    ...given: [...IdArgument<DerivedAddresses[Name]>, ...InputArgument<Name>, signal?: AbortSignal]
  ) => Promise<OperationOutput<Name>>;
};

export interface Client extends DerivedMethods {
  /** All messages, or one page of them if `limit` is given. */
  logs(id: string, page?: OperationInput<"logs">, signal?: AbortSignal): Promise<LogPage>;
  /** Continues a completed task with a new prompt. */
  resume(id: string, prompt: string, signal?: AbortSignal): Promise<BackgroundTask>;
  /** A snapshot, then every change, as long as it is read. Reconnects by itself. */
  events(options?: StreamOptions): AsyncGenerator<StreamEvent, void>;
  /** For the server's own page only, which cannot get the token otherwise. */
  pageToken(): Promise<string>;
  /** Performs an operation of the board, in the daemon. */
  operate: CallOperation;
}

/** What one request carries. */
interface Sent {
  id?: string | undefined;
  input?: unknown;
  signal?: AbortSignal | undefined;
}

export function createClient(options: ClientOptions): Client {
  const base = options.url.replace(/\/+$/, "");
  const fetcher = withToken(options.fetch ?? ((input, init) => fetch(input, init)), options.token);
  const request = async (name: OperationName, sent: Sent): Promise<Response> => {
    const response = await send(fetcher, base, addressOf(name), sent, options.origin);
    if (!response.ok) throw await failureOf(response);
    return response;
  };
  const json = async <Name extends OperationName>(name: Name, sent: Sent) =>
    (await (await request(name, sent)).json()) as OperationOutput<Name>;
  const names = Object.keys(STATUS_ADDRESSES) as StatusOperationName[];
  const derived = names.map((name) => {
    const { path, sends } = addressOf(name);
    return [name, (...given: unknown[]) => json(name, sentBy(given, { hasId: path.includes(":id"), sends }))];
  });
  return {
    ...(Object.fromEntries(derived) as DerivedMethods),
    async logs(id, page = {}, signal) {
      const response = await request("logs", { id, input: page, signal });
      return { messages: (await response.json()) as LogMessage[], before: response.headers.get("x-next-cursor") };
    },
    resume: (id, prompt, signal) => json("resume", { id, input: { prompt }, signal }),
    events: (stream = {}) =>
      streamEvents(fetcher, `${base}${STATUS_ADDRESSES.events.path}${searchOf({ every: stream.everyMs })}`, stream),
    pageToken: async () => (await json("pageToken", {})).token,
    operate: (name, input, { signal } = {}) => json(name, { input, signal }),
  };
}

/** Sorts the arguments of a derived method by what its address needs. */
function sentBy(given: unknown[], { hasId, sends }: { hasId: boolean; sends: Address["sends"] }): Sent {
  const rest = [...given];
  const id = hasId ? (rest.shift() as string) : undefined;
  const input = sends === null ? undefined : rest.shift();
  return { id, input, signal: rest.shift() as AbortSignal | undefined };
}

function withToken(fetcher: Fetch, token: string | undefined): Fetch {
  if (token === undefined) return fetcher;
  return (input, init) => {
    const headers = new Headers(init?.headers);
    headers.set("authorization", `Bearer ${token}`);
    return fetcher(input, { ...init, headers });
  };
}

async function send(
  fetcher: Fetch,
  base: string,
  { method, path, sends }: Address,
  { id = "", input, signal }: Sent,
  origin: CallOrigin | undefined,
): Promise<Response> {
  const url = `${base}${path.replace(":id", () => encodeURIComponent(id))}${sends === "query" ? searchOf(input) : ""}`;
  const headers: Record<string, string> = origin === undefined ? {} : originHeaders(origin);
  if (method === "POST") headers["content-type"] = "application/json";
  try {
    return await fetcher(url, {
      method,
      headers,
      ...(method === "POST" && { body: JSON.stringify(input ?? {}) }),
      ...(signal && { signal }),
    });
  } catch (cause) {
    if (signal?.aborted) throw cause;
    const message = `The asyncagents server at ${new URL(url).origin} does not answer. Is the program that runs it still open?`;
    throw new AsyncAgentsError("host_unavailable", message, { cause });
  }
}

/** Lists are joined with commas; absent and empty values are left out. */
function searchOf(query: unknown): string {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {}).sort()) {
    const isAbsent = value === undefined || (Array.isArray(value) && value.length === 0);
    if (!isAbsent) given.set(name, String(value));
  }
  return given.size === 0 ? "" : `?${given}`;
}
