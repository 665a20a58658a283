/**
 * Reads a failure of the client: its code and the server's words. Decides nothing.
 */

export function codeOf(failure: unknown): string | null {
  if (typeof failure !== "object" || failure === null || !("code" in failure)) return null;
  return typeof failure.code === "string" ? failure.code : null;
}

export function failureText(failure: unknown): string {
  return failure instanceof Error ? failure.message : String(failure);
}

/** Asking again does not help against these. */
export function isFinal(failure: unknown): boolean {
  return ["task_not_found", "group_not_found", "invalid_input", "not_allowed", "session_gone"].includes(
    codeOf(failure) ?? "",
  );
}
