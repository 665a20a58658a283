/**
 * The page's client: every request carries the token if the page has one, and is repeated once if an old token was
 * rejected. If the page has none, the server says what to do.
 */
import { type Client, createClient } from "../../../src/client/client.ts";
import { forgetToken, pageToken } from "./page-token.ts";

export const readingClient: Client = createClient({ url: window.location.origin, fetch: fetchWithToken });

async function fetchWithToken(input: string, init: RequestInit = {}): Promise<Response> {
  const answer = await sendWithToken(input, init);
  if (!isForToken(answer.status, init.method ?? "GET")) return answer;
  forgetToken();
  const second = await sendWithToken(input, init);
  if (second.status === 401) for (const listener of rejected) listener();
  return second;
}

const rejected = new Set<() => void>();

/** Calls back when the server wants a token and accepts none that this page has. */
export function onRejected(listener: () => void): void {
  rejected.add(listener);
}

async function sendWithToken(input: string, init: RequestInit): Promise<Response> {
  const token = await pageToken().catch(() => null);
  const headers = new Headers(init.headers);
  if (token !== null) headers.set("authorization", `Bearer ${token}`);
  return fetch(input, { ...init, headers });
}

/** Changes are rejected with a separate status; a 403 may then have another reason. */
function isForToken(status: number, method: string): boolean {
  return status === 401 || (status === 403 && method === "GET");
}

/** Performs one change; if it cannot, it says why the page has no token. */
export async function control<T>(act: (client: Client) => Promise<T>): Promise<T> {
  await pageToken();
  return act(readingClient);
}

/** Null if controls work; otherwise why they are off. */
export async function whyControlsAreOff(): Promise<unknown> {
  try {
    await pageToken();
    return null;
  } catch (failure) {
    return failure;
  }
}
