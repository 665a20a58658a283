/**
 * Turns an error response of the server into an AsyncAgentsError. A response that is not ours becomes `internal`,
 * with its HTTP status.
 */
import { AsyncAgentsError, ERROR_CODES, type ErrorCode } from "../model/errors.ts";
import type { ErrorBody } from "../protocol/server.ts";

export async function failureOf(response: Response): Promise<AsyncAgentsError> {
  const body = (await response.json().catch(() => null)) as ErrorBody | null;
  const { code, message, details } = body?.error ?? {};
  const known = typeof code === "string" && Object.hasOwn(ERROR_CODES, code) ? (code as ErrorCode) : "internal";
  return new AsyncAgentsError(known, message ?? `The server answered with ${response.status}.`, {
    ...(details ? { details } : {}),
  });
}
