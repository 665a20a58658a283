/**
 * Who uses the page: the user of this machine, the holder of a token, or nobody yet. Asked once when the page opens; a
 * token that stops working ends the session. The token itself is in `server/page-token.ts`.
 */
import { useSyncExternalStore } from "react";
import { createClient } from "../../../src/client/client.ts";
import type { OperationName } from "../../../src/protocol/operations.ts";
import type { ServerCaller } from "../../../src/protocol/server.ts";
import { codeOf } from "../server/failure.ts";
import { onRejected, readingClient } from "../server/page-client.ts";
import { forgetToken, keepToken } from "../server/page-token.ts";

export type Session =
  | { kind: "opening" }
  /** `caller` is null if the server does not say: it is older, or it rejects this page, and each view says why. */
  | { kind: "open"; caller: ServerCaller | null }
  | { kind: "signed out"; reason: string | null };

let session: Session = { kind: "opening" };
const listeners = new Set<() => void>();

onRejected(() => {
  if (session.kind !== "open" || session.caller?.door !== "token") return;
  become({ kind: "signed out", reason: "Your token no longer works: it was revoked, or it has expired." });
});

export async function openSession(): Promise<void> {
  try {
    become({ kind: "open", caller: await readingClient.caller() });
  } catch (failure) {
    const isSignedOut = codeOf(failure) === "not_authorized";
    become(isSignedOut ? { kind: "signed out", reason: null } : { kind: "open", caller: null });
  }
}

/** Rejects with the server's message if the token does not work; then nothing is kept. */
export async function signIn(token: string): Promise<void> {
  const caller = await createClient({ url: window.location.origin, token }).caller();
  keepToken(token);
  become({ kind: "open", caller });
}

/** The page is loaded anew, so that nothing that was read stays in memory. */
export function signOut(): void {
  forgetToken();
  window.location.assign("/");
}

export function useSession(): Session {
  return useSyncExternalStore(subscribe, () => session);
}

export function useCaller(): ServerCaller | null {
  const now = useSession();
  return now.kind === "open" ? now.caller : null;
}

/** Whether the caller's role includes the operation. Only decides what is offered: the server decides what is done. */
export function useMay(operation: OperationName): boolean {
  const caller = useCaller();
  return caller === null || caller.operations.includes(operation);
}

function become(next: Session): void {
  session = next;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
