/**
 * Access tokens by the hash of their secret. Revoked ones stay, so that a name always means the same token. New names
 * also differ from all others if case is ignored: they must not look alike in the audit log.
 */
import { type Kysely, sql } from "kysely";
import type { AccessToken } from "../../model/access-token.ts";
import type { Role } from "../../model/role.ts";
import { preparedQuery } from "../compiled-query.ts";
import type { RowOf, Schema } from "../schema.ts";
import { lock } from "../sql/lock.ts";

const COLUMNS = ["id", "name", "role", "created_at", "expires_at", "last_used_at", "revoked_at"] as const;
const MOST_TOKENS = 1000;

type TokenRow = Omit<RowOf<"access_tokens">, "hash">;

export async function addToken(kysely: Kysely<Schema>, token: AccessToken, hash: string): Promise<boolean> {
  const name = token.name.toLowerCase();
  await lock(kysely, "token", name);
  const isSame = sql<boolean>`lower(name) = ${name}`;
  const taken = await kysely.selectFrom("access_tokens").select("id").where(isSame).limit(1).executeTakeFirst();
  if (taken !== undefined) return false;
  const added = await kysely
    .insertInto("access_tokens")
    .values({
      id: token.id,
      name: token.name,
      hash,
      role: token.role,
      created_at: token.createdAt,
      expires_at: token.expiresAt,
      last_used_at: token.lastUsedAt,
      revoked_at: token.revokedAt,
    })
    .onConflict((conflict) => conflict.column("name").doNothing())
    .returning("id")
    .executeTakeFirst();
  return added !== undefined;
}

export async function readTokenOf(kysely: Kysely<Schema>, hash: string): Promise<AccessToken | null> {
  const [row] = await selectByHash(kysely, { hash });
  return row === undefined ? null : tokenOf(row);
}

/** Every request with a token reads it. */
const selectByHash = preparedQuery<{ hash: string }, TokenRow>((kysely, { hash }) =>
  kysely.selectFrom("access_tokens").select(COLUMNS).where("hash", "=", hash),
);

export async function readTokens(kysely: Kysely<Schema>): Promise<AccessToken[]> {
  const rows = kysely.selectFrom("access_tokens").select(COLUMNS).orderBy("created_at", "desc").orderBy("id");
  return (await rows.limit(MOST_TOKENS).execute()).map(tokenOf);
}

export async function hasUsableToken(kysely: Kysely<Schema>, at: number): Promise<boolean> {
  const row = await kysely
    .selectFrom("access_tokens")
    .select("id")
    .where("revoked_at", "is", null)
    .where((where) => where.or([where("expires_at", "is", null), where("expires_at", ">", at)]))
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

export async function revokeToken(kysely: Kysely<Schema>, id: string, at: number): Promise<boolean> {
  const revoked = await kysely
    .updateTable("access_tokens")
    .set({ revoked_at: at })
    .where("id", "=", id)
    .where("revoked_at", "is", null)
    .returning("id")
    .executeTakeFirst();
  return revoked !== undefined;
}

/** Never back: processes may report their uses in any order. */
export async function touchToken(kysely: Kysely<Schema>, id: string, at: number): Promise<void> {
  await kysely
    .updateTable("access_tokens")
    .set({ last_used_at: at })
    .where("id", "=", id)
    .where(sql<number>`coalesce(last_used_at, 0)`, "<", at)
    .execute();
}

function tokenOf(row: TokenRow): AccessToken {
  return {
    id: row.id,
    name: row.name,
    role: row.role as Role,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    lastUsedAt: row.last_used_at,
    revokedAt: row.revoked_at,
  };
}
