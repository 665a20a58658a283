/**
 * What a client gets when a tool fails: the code, the message, and which tool to call next. Codes follow from the
 * closed table. Text only, because clients validate structured content against the output schema even for failures.
 */
import type { CallToolResult } from "@modelcontextprotocol/server";
import { AsyncAgentsError, ERROR_CODES, type ErrorCode, messageOf } from "../model/errors.ts";
import type { Toolset } from "../protocol/operation.ts";
import { toolNamed } from "./tools.ts";

/** Advice on what to do next; given only if its tools are offered. */
interface Hint {
  tools: readonly string[];
  text: string;
}

const LISTS: Record<string, Hint> = {
  project: { tools: ["list_projects"], text: "list_projects gives the ids of all projects." },
  repo: { tools: ["list_repos"], text: "list_repos gives the ids of a project's repositories." },
  task: { tools: ["list_tasks"], text: "list_tasks gives the ids of a project's tasks." },
  attempt: { tools: ["list_task_attempts"], text: "list_task_attempts gives the ids of a task's attempts." },
  session: { tools: ["list_task_attempts"], text: "list_task_attempts gives the latest session of each attempt." },
};

const EXECUTORS: Hint[] = [{ tools: ["list_executors"], text: "list_executors says what can be used here." }];
const WAIT: Hint = { tools: ["get_attempt"], text: "get_attempt with wait_ms tells when it is done." };

const HINTS: Partial<Record<ErrorCode, Hint[]>> = {
  session_busy: [
    { tools: ["follow_up"], text: 'Call follow_up with action "queue": it runs when the session is idle.' },
  ],
  session_missing: [WAIT, { tools: ["list_task_attempts"], text: "list_task_attempts tells when there is a session." }],
  attempt_running: [
    { tools: ["stop_attempt"], text: "Call stop_attempt first, or wait with get_attempt and wait_ms." },
    { tools: [], text: "Wait until it has ended; list_tasks tells." },
  ],
  worktree_unmerged: [{ tools: ["merge_attempt"], text: "merge_attempt keeps the work; force gives it up." }],
  worktree_dirty: [{ tools: ["get_attempt_diff"], text: "get_attempt_diff shows what is not committed." }],
  merge_conflict: [
    {
      tools: ["follow_up"],
      text: "Let the agent merge the target branch into its own with follow_up, then try again.",
    },
  ],
  approval_needed: [
    { tools: [], text: "Tell the person that an approval is needed, and go on with other things until it is given." },
  ],
  nothing_asked: [{ tools: ["get_attempt"], text: "get_attempt says what is asked, if anything." }],
  request_conflict: [{ tools: [], text: "Look whether the first call did it; then use another request_id." }],
  unknown_agent: EXECUTORS,
  host_unavailable: EXECUTORS,
  branch_not_found: [{ tools: [], text: "Give a local branch of that repository as target_branch." }],
};

const RETRYABLE: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "session_busy",
  "session_missing",
  "attempt_running",
  "task_resuming",
  "worktree_busy",
  "daemon_unavailable",
  "store_unavailable",
  "host_unavailable",
  "host_failed",
  "task_timeout",
  "too_many_requests",
]);

/** Whether the same call may succeed later. */
export function isRetryable(thrown: unknown): boolean {
  return AsyncAgentsError.isInstance(thrown) && RETRYABLE.has(thrown.code);
}

/** The answer to a call that failed. */
export function errorResult(thrown: unknown, offered: Toolset): CallToolResult {
  return { isError: true, content: [{ type: "text", text: JSON.stringify(failure(thrown, offered)) }] };
}

function failure(thrown: unknown, offered: Toolset): Record<string, unknown> {
  if (!AsyncAgentsError.isInstance(thrown)) return { success: false, error: messageOf(thrown), code: "internal" };
  const { code, message, details } = thrown;
  const hint = hintFor(thrown).find(({ tools }) => tools.every((tool) => toolNamed(tool, offered)));
  return {
    success: false,
    error: message,
    code: wireCode(code),
    ...(Object.keys(details).length > 0 && { details }),
    ...(hint && { hint: hint.text }),
    ...(isRetryable(thrown) && { retryable: true }),
  };
}

function wireCode(code: ErrorCode): string {
  if (code === "invalid_input" || code === "unknown_agent" || code === "modes_exclusive") return "invalid_argument";
  return ERROR_CODES[code] === 404 ? "not_found" : code;
}

function hintFor({ code, details }: AsyncAgentsError): Hint[] {
  const list = code === "not_found" && typeof details.what === "string" ? LISTS[details.what] : undefined;
  return list ? [list] : (HINTS[code] ?? []);
}
