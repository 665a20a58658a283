/**
 * The token that the page sends with every request: what somebody signed in with, or from the link of `asyncagents
 * link`, kept for this tab only and removed from the address bar; otherwise from the server, which gives it to its own
 * page if it can tell whose browser it is. Sends nothing else.
 */
import { createClient } from "../../../src/client/client.ts";

const KEPT = "asyncagents.token";
const IN_ADDRESS = /^#token=([\w-]+)$/;

let given: Promise<string> | undefined;

keepFromAddress();

export function pageToken(): Promise<string> {
  const kept = sessionStorage.getItem(KEPT);
  given ??= kept === null ? createClient({ url: window.location.origin }).pageToken() : Promise.resolve(kept);
  given.catch(() => {
    given = undefined;
  });
  return given;
}

/** For this tab; the page sends it from now on. */
export function keepToken(token: string): void {
  sessionStorage.setItem(KEPT, token);
  given = Promise.resolve(token);
}

/** A rejected token is useless: the next request asks for another. */
export function forgetToken(): void {
  sessionStorage.removeItem(KEPT);
  given = undefined;
}

function keepFromAddress(): void {
  const { hash, pathname, search } = window.location;
  const token = IN_ADDRESS.exec(hash)?.[1];
  if (token === undefined) return;
  sessionStorage.setItem(KEPT, token);
  window.history.replaceState(window.history.state, "", `${pathname}${search}`);
}
