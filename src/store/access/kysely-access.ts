/** The records of access on a database, with each write in a transaction. Contains no SQL. */
import type { Kysely } from "kysely";
import type { Schema } from "../schema.ts";
import { closeAudit, openAudit, readAudit } from "./audit.ts";
import type { AccessRecords } from "./records.ts";
import { addToken, hasUsableToken, readTokenOf, readTokens, revokeToken, touchToken } from "./tokens.ts";

type Run = <T>(work: (kysely: Kysely<Schema>) => Promise<T>) => Promise<T>;

export function kyselyAccess({ read, write }: { read: Run; write: Run }): AccessRecords {
  return {
    addToken: (token, hash) => write((kysely) => addToken(kysely, token, hash)),
    tokenOf: (hash) => read((kysely) => readTokenOf(kysely, hash)),
    tokens: () => read(readTokens),
    hasUsableToken: (at) => read((kysely) => hasUsableToken(kysely, at)),
    revokeToken: (id, at) => write((kysely) => revokeToken(kysely, id, at)),
    touchToken: (id, at) => write((kysely) => touchToken(kysely, id, at)),
    openAudit: (entry) => write((kysely) => openAudit(kysely, entry)),
    closeAudit: (seq, end) => write((kysely) => closeAudit(kysely, seq, end)),
    audit: (query) => read((kysely) => readAudit(kysely, query)),
  };
}
