/**
 * The page's clients: one that reads, and one that may change things, whose token is asked for only when a control is
 * used and lives in memory only. A server that was started anew has a new token, so a refusal asks for it once more.
 */
import { type Client, createClient } from "../../../src/client/client.ts";
import { codeOf } from "./failure.ts";

export const readingClient: Client = createClient({ url: window.location.origin });

let controlling: Promise<Client> | undefined;

function controllingClient(): Promise<Client> {
  controlling ??= readingClient.pageToken().then((token) => createClient({ url: window.location.origin, token }));
  controlling.catch(forget);
  return controlling;
}

function forget(): void {
  controlling = undefined;
}

/** Does one thing that changes something. */
export async function control<T>(act: (client: Client) => Promise<T>): Promise<T> {
  const client = await controllingClient();
  try {
    return await act(client);
  } catch (failure) {
    if (codeOf(failure) !== "not_authorized") throw failure;
    forget();
    return await act(await controllingClient());
  }
}

/** Null when controls work; otherwise why they are off. */
export async function whyControlsAreOff(): Promise<unknown> {
  try {
    await controllingClient();
    return null;
  } catch (failure) {
    return failure;
  }
}
