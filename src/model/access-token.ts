/**
 * A token that lets its holder call the server from other machines, and an entry of the audit log. Plain data: the
 * secret itself is shown once and stored nowhere.
 */
import type { Role } from "./role.ts";

export interface AccessToken {
  id: string;
  /** Unique for ever, also among revoked tokens: the audit log names tokens by it. */
  name: string;
  role: Role;
  createdAt: number;
  /** Null: never. */
  expiresAt: number | null;
  /** To the hour. Null: never used. */
  lastUsedAt: number | null;
  revokedAt: number | null;
}

/** One call that changes something, and who made it. */
export interface AuditEntry {
  seq: number;
  at: number;
  /** The name of a token, "local user", or an agent. */
  by: string;
  operation: string;
  /** The id of what it is about; null if it is about nothing that has one. */
  subject: string | null;
  /** `started`: in progress, or its process died before it ended. */
  outcome: "started" | "done" | "failed";
}

const BY_AGENT = " (agent)";

/** As the audit log names an agent of a token's holder. No token has such a name. */
export function agentOf(tokenName: string): string {
  return `${tokenName}${BY_AGENT}`;
}

/** The token of an entry, whether its holder made the call or an agent of the holder. */
export function tokenNameOf(by: string): string {
  return by.endsWith(BY_AGENT) ? by.slice(0, -BY_AGENT.length) : by;
}

export function isUsable({ revokedAt, expiresAt }: AccessToken, now: number): boolean {
  return revokedAt === null && (expiresAt === null || now < expiresAt);
}
