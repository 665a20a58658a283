/** The tables of tokens and the audit log for Kysely; `migrations/9-access.ts` creates them. No behaviour. */
import type { Generated } from "kysely";

export interface AccessSchema {
  access_tokens: AccessTokensTable;
  audit: AuditTable;
}

interface AccessTokensTable {
  id: string;
  name: string;
  /** SHA-256 of the secret, in hexadecimal digits. */
  hash: string;
  role: string;
  created_at: number;
  expires_at: number | null;
  last_used_at: number | null;
  revoked_at: number | null;
}

interface AuditTable {
  seq: Generated<number>;
  at: number;
  by: string;
  operation: string;
  subject: string | null;
  outcome: string;
}
