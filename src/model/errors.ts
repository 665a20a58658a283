/**
 * The closed table of error codes. Every error that a caller can get is an AsyncAgentsError with one of these codes;
 * its message says what to do next. HTTP and MCP forms are derived from the table, never chosen at the call site.
 */

/** Maps each code to the HTTP status to respond with. */
export const ERROR_CODES = {
  invalid_input: 400,
  missing_required: 400,
  unknown_agent: 400,
  modes_exclusive: 400,
  not_authorized: 401,
  not_allowed: 403,
  approval_needed: 403,
  task_not_found: 404,
  not_found: 404,
  group_not_found: 404,
  no_such_path: 404,
  method_not_allowed: 405,
  task_ambiguous: 409,
  task_not_live: 409,
  task_running: 409,
  task_resuming: 409,
  task_not_resumable: 409,
  task_needed: 409,
  session_busy: 409,
  session_missing: 409,
  attempt_running: 409,
  nothing_asked: 409,
  nothing_to_tell: 409,
  follow_up_gone: 409,
  not_cancellable: 409,
  request_conflict: 409,
  name_taken: 409,
  not_empty: 409,
  session_gone: 410,
  too_large: 413,
  over_budget: 409,
  too_many_tasks: 429,
  request_timeout: 408,
  too_many_requests: 429,
  message_malformed: 502,
  output_missing: 404,
  task_timeout: 504,
  outcome_unknown: 504,
  depth_exceeded: 403,
  repo_invalid: 400,
  branch_not_found: 404,
  worktree_not_found: 404,
  worktree_not_ours: 403,
  worktree_exists: 409,
  worktree_dirty: 409,
  worktree_unmerged: 409,
  worktree_busy: 409,
  merge_conflict: 409,
  setup_failed: 422,
  git_failed: 502,
  git_unavailable: 503,
  repo_unavailable: 503,
  host_unsupported: 501,
  host_unavailable: 503,
  host_failed: 502,
  daemon_unavailable: 503,
  configuration_invalid: 503,
  store_unavailable: 503,
  store_too_new: 503,
  internal: 500,
} as const;

export type ErrorCode = keyof typeof ERROR_CODES;

const BRAND = Symbol.for("asyncagents.error");

export class AsyncAgentsError extends Error {
  readonly code: ErrorCode;
  readonly details: Record<string, unknown>;
  readonly [BRAND] = true;

  constructor(code: ErrorCode, message: string, options: { details?: Record<string, unknown>; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "AsyncAgentsError";
    this.code = code;
    this.details = options.details ?? {};
  }

  /** Works across two copies of this module, where `instanceof` does not. */
  static isInstance(value: unknown): value is AsyncAgentsError {
    return typeof value === "object" && value !== null && BRAND in value;
  }
}

/** The message of any thrown value, for logs and error rows. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
