/**
 * How requests reach OpenCode: through the client given to plugins (in process) or over HTTP. A status other than 2xx
 * becomes an AsyncAgentsError here, so that no `{ error }` is ever dropped. No retries.
 */
import { AsyncAgentsError, messageOf } from "../../model/errors.ts";
import { within } from "../../process/deadline.ts";

export interface OpenCodeRequest {
  method: "GET" | "POST" | "PATCH" | "DELETE";
  /** With `{name}` for each path parameter. */
  path: string;
  parameters?: Record<string, string>;
  query?: Record<string, string | number | undefined>;
  body?: unknown;
}

export interface OpenCodeAnswer {
  status: number;
  data: unknown;
  header(name: string): string | null;
}

/** Sends one request; rejects only if there was no response. */
export type OpenCodeSend = (request: OpenCodeRequest) => Promise<OpenCodeAnswer>;

const TIMEOUT_MS = 30_000;

/** The part of the client given to plugins that can send any request. */
interface RawClient {
  request(options: Record<string, unknown>): Promise<{ data?: unknown; error?: unknown; response?: Response }>;
}

/** Sends through the client that OpenCode gives its plugins, which works in process. */
export function pluginSend(client: object): OpenCodeSend {
  const raw = (client as { _client: RawClient })._client;
  return async ({ method, path, parameters, query, body }) => {
    const result = await raw.request({
      method,
      url: path,
      ...(parameters ? { path: parameters } : {}),
      ...(query ? { query } : {}),
      ...(body === undefined ? {} : { body, headers: { "Content-Type": "application/json" } }),
    });
    if (!result.response) throw new Error(describe(result.error));
    return {
      status: result.response.status,
      data: result.error ?? result.data,
      header: (name) => result.response?.headers.get(name) ?? null,
    };
  };
}

export interface HttpTarget {
  url: string;
  directory: string;
  headers?: Record<string, string>;
}

/** Sends over HTTP to the instance of one directory. */
export function httpSend({ url, directory, headers = {} }: HttpTarget): OpenCodeSend {
  return async ({ method, path, parameters = {}, query = {}, body }) => {
    const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(parameters[name] ?? ""));
    const target = new URL(filled, url);
    target.searchParams.set("directory", directory);
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined) target.searchParams.set(name, String(value));
    }
    const response = await fetch(target, {
      method,
      headers: { ...headers, ...(body === undefined ? {} : { "Content-Type": "application/json" }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    return {
      status: response.status,
      data: dataOf(await response.text()),
      header: (name) => response.headers.get(name),
    };
  };
}

/** The body parsed as JSON, or else as text. */
function dataOf(text: string): unknown {
  try {
    return text === "" ? undefined : JSON.parse(text);
  } catch {
    return text;
  }
}

/** Sends, waits at most 30 s, and turns any failure into an error that names the request. */
export async function callOpenCode(send: OpenCodeSend, request: OpenCodeRequest): Promise<OpenCodeAnswer> {
  const what = `${request.method} ${request.path}`;
  const late = (ms: number) => new Error(`no response within ${ms / 1000} s`);
  const answer = await within(send(request), { timeout: TIMEOUT_MS }, late).catch((thrown: unknown) => {
    // Nothing was sent: no OpenCode is running.
    if (AsyncAgentsError.isInstance(thrown)) throw thrown;
    throw new AsyncAgentsError("host_failed", `OpenCode did not answer ${what}: ${messageOf(thrown)}`, {
      cause: thrown,
    });
  });
  if (answer.status >= 200 && answer.status < 300) return answer;
  const said = describe(answer.data);
  if (answer.status === 404) throw new AsyncAgentsError("session_gone", `OpenCode has no such session (${said})`);
  const refused = answer.status >= 400 && answer.status < 500;
  throw new AsyncAgentsError("host_failed", `OpenCode refused ${what} with ${answer.status}: ${said}`, {
    details: { status: answer.status, refused },
  });
}

function describe(error: unknown): string {
  if (typeof error === "string") return error.slice(0, 500);
  if (typeof error !== "object" || error === null) return String(error);
  const { message, data, name } = error as { message?: unknown; data?: { message?: unknown }; name?: unknown };
  const said = data?.message ?? message ?? name;
  return (typeof said === "string" ? said : JSON.stringify(error)).slice(0, 500);
}
