/** The answer to a remote call as text: what was returned, or the error with its code. Both ends use this file. */
import { AsyncAgentsError, ERROR_CODES, type ErrorCode } from "../../model/errors.ts";

/** More than any answer that is read in pages. */
const MAX_ANSWER_BYTES = 8_000_000;

type CallAnswer =
  | { output: unknown }
  | { error: { code: ErrorCode; message: string; details: Record<string, unknown> } };

export function outputText(output: unknown): string {
  const text = JSON.stringify({ output: output ?? null } satisfies CallAnswer);
  if (Buffer.byteLength(text) <= MAX_ANSWER_BYTES) return text;
  const message = "It was done, but the answer is too large for another process. Ask for less at a time.";
  return errorText(new AsyncAgentsError("too_large", message));
}

/** The caller is only told that there was an unexpected error, as over HTTP. */
export function errorText(thrown: unknown): string {
  const known = AsyncAgentsError.isInstance(thrown)
    ? thrown
    : new AsyncAgentsError(
        "internal",
        "Something went wrong in the process that was asked. asyncagents.log in its data folder says what.",
      );
  const { code, message, details } = known;
  return JSON.stringify({ error: { code, message, details } } satisfies CallAnswer);
}

/** What was returned; throws the error. A code that this version does not know is an internal error. */
export function readAnswer(text: string): unknown {
  const answer: CallAnswer = JSON.parse(text);
  if ("output" in answer) return answer.output;
  const { code, message, details } = answer.error;
  throw new AsyncAgentsError(Object.hasOwn(ERROR_CODES, code) ? code : "internal", message, { details });
}
