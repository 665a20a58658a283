/**
 * Reads an error of the client: its code and the server's message. Decides nothing.
 */

export function codeOf(failure: unknown): string | null {
  if (typeof failure !== "object" || failure === null || !("code" in failure)) return null;
  return typeof failure.code === "string" ? failure.code : null;
}

export function failureText(failure: unknown): string {
  return failure instanceof Error ? failure.message : String(failure);
}

const FINAL = new Set([
  "task_not_found",
  "group_not_found",
  "not_found",
  "no_such_path",
  "daemon_unavailable",
  "invalid_input",
  "not_allowed",
  "session_gone",
]);

/** Retrying does not help against these. */
export function isFinal(failure: unknown): boolean {
  return FINAL.has(codeOf(failure) ?? "");
}

/** The server has no board: it is older, or it cannot reach a daemon. */
export function isWithoutBoard(failure: unknown): boolean {
  return ["no_such_path", "daemon_unavailable"].includes(codeOf(failure) ?? "");
}

/** What an error lists besides its message, such as the files of a conflict; empty if it lists nothing. */
export function listedIn(failure: unknown, detail: string): string[] {
  if (typeof failure !== "object" || failure === null || !("details" in failure)) return [];
  const listed = (failure.details as Record<string, unknown> | null)?.[detail];
  return Array.isArray(listed) ? listed.map(String) : [];
}
