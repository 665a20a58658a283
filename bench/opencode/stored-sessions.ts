/**
 * What OpenCode itself stored about the sessions of a trial, read from its database: the same in every mode, and
 * without sending it a request. Read-only; OpenCode's writes do not wait for it.
 */
import { Database } from "bun:sqlite";
import { join } from "node:path";

interface StoredPart {
  type: string;
  tool?: string;
  state?: { status: string; time?: { start: number; end?: number } };
}

const LOOK_MS = 20;
const PATIENCE_MS = 30_000;

export class StoredSessions {
  readonly #path: string;
  #opened: Database | null = null;

  constructor(home: string) {
    this.#path = join(home, ".local", "share", "opencode", "opencode.db");
  }

  version(sessionId: string): string {
    const row = this.#database.query("SELECT version FROM session WHERE id = ?").get(sessionId);
    return (row as { version: string } | null)?.version ?? "unknown";
  }

  /** Resolves when this many answers of the session's model are complete. */
  async answers(sessionId: string, count: number): Promise<void> {
    const complete = this.#database.query(
      `SELECT count(*) AS count FROM message WHERE session_id = ?
       AND data ->> '$.role' = 'assistant' AND data ->> '$.time.completed' IS NOT NULL`,
    );
    for (const deadline = performance.now() + PATIENCE_MS; performance.now() < deadline; await Bun.sleep(LOOK_MS)) {
      if ((complete.get(sessionId) as { count: number }).count >= count) return;
    }
    throw new Error(`Waited ${PATIENCE_MS} ms for ${count} complete answers in ${sessionId}.`);
  }

  /** How long the session's call of the tool took, by OpenCode's clock, in whole ms. */
  callTime(sessionId: string, tool: string): number {
    const rows = this.#database.query("SELECT data FROM part WHERE session_id = ?").all(sessionId) as {
      data: string;
    }[];
    const parts = rows.map(({ data }) => JSON.parse(data) as StoredPart);
    const time = parts.find((part) => part.type === "tool" && part.tool === tool)?.state?.time;
    if (time?.end === undefined) throw new Error(`${tool} did not complete in ${sessionId}.`);
    return time.end - time.start;
  }

  close(): void {
    this.#opened?.close();
  }

  /** Opened late, because OpenCode creates the file when it starts. */
  get #database(): Database {
    this.#opened ??= new Database(this.#path, { readonly: true });
    return this.#opened;
  }
}
