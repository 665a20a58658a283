/**
 * Records who changes what: an entry is stored before the change and completed after it, so that no change is missing.
 * A change that cannot be recorded is not made, except that an agent can always be stopped, also while the disk is
 * full. Reads are not recorded.
 */
import type { AuditEntry } from "../../model/access-token.ts";
import type { Store } from "../../store/store.ts";

interface AuditContext {
  store: Pick<Store, "access">;
  now(): number;
}

interface AuditedCall {
  by: string;
  operation: string;
  /** Its parsed input, or what is known of it. */
  input: object;
  /** It stops an agent, and is done even if it cannot be recorded. */
  stopsAgent?: boolean;
}

/** The fields of inputs and outputs that say what a call is about, most specific first. */
const SUBJECTS = ["id", "handle", "attempt_id", "session_id", "task_id", "repo_id", "project_id", "approval_id"];
const MAX_SUBJECT = 100;

export class AuditLog {
  readonly #context: AuditContext;

  constructor(context: AuditContext) {
    this.#context = context;
  }

  async record<T>({ by, operation, input, stopsAgent }: AuditedCall, work: () => Promise<T>): Promise<T> {
    const { store, now } = this.#context;
    const subject = subjectOf(input);
    const open = () => store.access.openAudit({ at: now(), by, operation, subject });
    const opened = stopsAgent ? await open().catch(() => null) : await open();
    // The change is made: that its entry is missing or stays `started` must not make it look failed.
    const close = async (end: Pick<AuditEntry, "outcome" | "subject">) => {
      try {
        await store.access.closeAudit(opened ?? (await open()), end);
      } catch {}
    };
    try {
      const answer = await work();
      await close({ outcome: "done", subject: subject ?? subjectOf(answer) });
      return answer;
    } catch (thrown) {
      await close({ outcome: "failed", subject });
      throw thrown;
    }
  }

  entries(query: { subject: string | null; before?: number; limit?: number }): Promise<AuditEntry[]> {
    return this.#context.store.access.audit(query);
  }
}

function subjectOf(value: unknown): string | null {
  if (typeof value !== "object" || value === null) return null;
  const { approval, ...fields } = value as Record<string, unknown>;
  for (const name of SUBJECTS) {
    const found = fields[name];
    if (typeof found === "string" && found !== "") return found.slice(0, MAX_SUBJECT);
  }
  return approval === undefined ? null : subjectOf(approval);
}
