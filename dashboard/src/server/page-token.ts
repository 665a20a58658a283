/**
 * The token that the page sends with every request: what somebody signed in with, or from the link of `asyncagents
 * link`, kept for this tab only and removed from the address bar; otherwise from the server, which gives it to its own
 * page if it can tell whose browser it is. Sends nothing else.
 */
import { createClient } from "../../../src/client/client.ts";

const KEPT = "asyncagents.token";
const IN_ADDRESS = /^#token=([\w-]+)$/;
/** How tokens for other machines begin: people type them in, and they are not taken from a link. */
const OF_PERSON = "aat_";

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
  // Somebody else's link must not sign anybody in under another name, nor out.
  const isSignedIn = sessionStorage.getItem(KEPT)?.startsWith(OF_PERSON) ?? false;
  if (!isSignedIn && !token.startsWith(OF_PERSON)) sessionStorage.setItem(KEPT, token);
  window.history.replaceState(window.history.state, "", `${pathname}${search}`);
}
