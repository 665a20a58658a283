/** The table of exit codes: scripts rely on it, and the help and the guide print it. Contains only the mapping. */
import { AsyncAgentsError, ERROR_CODES, type ErrorCode } from "../model/errors.ts";

export const EXIT = {
  ok: 0,
  failed: 1,
  usage: 2,
  notFound: 3,
  timeout: 4,
  noDaemon: 5,
  interrupted: 130,
  /** What a shell reports for a program killed by SIGPIPE. */
  closedPipe: 141,
} as const;

export const EXIT_MEANINGS: readonly (readonly [number, string])[] = [
  [EXIT.ok, "done"],
  [EXIT.failed, "the command failed, or the task it waited for failed or was cancelled"],
  [EXIT.usage, "wrong usage"],
  [EXIT.notFound, "no such task, item, attempt or project"],
  [EXIT.timeout, "timeout"],
  [EXIT.noDaemon, "the daemon cannot be reached or started"],
  [EXIT.interrupted, "Ctrl-C"],
  [EXIT.closedPipe, "the reader closed the pipe"],
];

const OTHERS: Partial<Record<ErrorCode, number>> = {
  task_ambiguous: EXIT.usage,
  too_large: EXIT.usage,
  session_gone: EXIT.notFound,
  task_timeout: EXIT.timeout,
  outcome_unknown: EXIT.timeout,
  daemon_unavailable: EXIT.noDaemon,
  configuration_invalid: EXIT.noDaemon,
  store_unavailable: EXIT.noDaemon,
  store_too_new: EXIT.noDaemon,
};

export function exitCodeOf(thrown: unknown): number {
  if (!AsyncAgentsError.isInstance(thrown)) return EXIT.failed;
  const special = OTHERS[thrown.code];
  if (special !== undefined) return special;
  const status = ERROR_CODES[thrown.code];
  if (status === 400) return EXIT.usage;
  return status === 404 ? EXIT.notFound : EXIT.failed;
}
