/**
 * The part of the store's seam about access: tokens, and the audit log. The secret of a token never gets here, only its
 * hash. Does not decide who may do what.
 */
import type { AccessToken, AuditEntry } from "../../model/access-token.ts";

export interface AccessRecords {
  /**
   * False if the name is taken, even by a revoked token, or differs from a taken one only in case. `hash` is that of
   * the secret.
   */
  addToken(token: AccessToken, hash: string): Promise<boolean>;
  /** The token with that hash, also if it was revoked or has expired. */
  tokenOf(hash: string): Promise<AccessToken | null>;
  /** Newest first, at most 1,000. */
  tokens(): Promise<AccessToken[]>;
  /** Whether one can be used at that time. */
  hasUsableToken(at: number): Promise<boolean>;
  /** False if there is none, or it was revoked before. */
  revokeToken(id: string, at: number): Promise<boolean>;
  /** Stores when it was last used. */
  touchToken(id: string, at: number): Promise<void>;

  /**
   * Adds an entry that has just started; returns its number. 100,000 are kept: beyond that, it costs the oldest one of
   * its writer, or, if that one has less than an equal share, of whoever has the most.
   */
  openAudit(entry: Omit<AuditEntry, "seq" | "outcome">): Promise<number>;
  /** How it ended; with the subject if that was not known before. */
  closeAudit(seq: number, end: Pick<AuditEntry, "outcome" | "subject">): Promise<void>;
  /** Newest first, before the given one; about one subject, or all (null). At most `limit` (default 50, up to 200). */
  audit(query: { subject: string | null; before?: number; limit?: number }): Promise<AuditEntry[]>;
}
