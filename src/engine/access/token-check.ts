/**
 * Finds the token that a caller holds, by the hash of its secret. The store is asked every time, so that a revoked
 * token stops working at once, on every server. Stores the last use to the hour, not with every request.
 */
import { type AccessToken, isUsable } from "../../model/access-token.ts";
import type { Store } from "../../store/store.ts";

const HOUR_MS = 3_600_000;

interface TokenCheckContext {
  store: Pick<Store, "access">;
  now(): number;
}

export class TokenCheck {
  readonly #context: TokenCheckContext;
  /** Tokens whose use is being stored. */
  readonly #touching = new Set<string>();

  constructor(context: TokenCheckContext) {
    this.#context = context;
  }

  /** Null if there is no such token, or it was revoked or has expired. */
  async usable(hash: string): Promise<AccessToken | null> {
    const { store, now } = this.#context;
    const token = await store.access.tokenOf(hash);
    if (token === null || !isUsable(token, now())) return null;
    this.#touch(token);
    return token;
  }

  #touch({ id, lastUsedAt }: AccessToken): void {
    const { store, now } = this.#context;
    const at = now();
    if (at - (lastUsedAt ?? 0) < HOUR_MS || this.#touching.has(id)) return;
    this.#touching.add(id);
    // For display only: the request does not wait for it, and does not fail with it.
    void store.access
      .touchToken(id, at)
      .catch(() => undefined)
      .finally(() => this.#touching.delete(id));
  }
}
