/**
 * Applies one command to several things: each is processed and reported, even after a failure. The exit code is that
 * of the failures, or 1 if they differ. With a single thing, its failure is the command's own.
 */
import { AsyncAgentsError, messageOf } from "../model/errors.ts";
import type { Invocation } from "./command.ts";
import { EXIT, exitCodeOf } from "./exit-codes.ts";
import { ownWords } from "./terminal/own-words.ts";

interface Failure {
  /** As typed. */
  given: string;
  code: string;
  message: string;
}

interface EachResult<T> {
  values: T[];
  /** For the JSON document: empty if everything succeeded. */
  errors: Failure[];
  exitCode: number;
}

/** Like kubectl: the document of the thing itself if one was named, otherwise a list of them including failures. */
export function documentOf<T>(name: string, { values, errors }: EachResult<T>): unknown {
  const [only] = values;
  return values.length === 1 && errors.length === 0 ? only : { [name]: values, errors };
}

/** Processes each one in turn, skipping duplicates. */
export async function eachOf<T>(
  { screen, signal }: Invocation,
  given: readonly string[],
  act: (given: string) => Promise<T>,
): Promise<EachResult<T>> {
  const names = [...new Set(given)];
  const result: EachResult<T> = { values: [], errors: [], exitCode: EXIT.ok };
  for (const name of names) {
    try {
      result.values.push(await act(name));
    } catch (thrown) {
      if (names.length === 1 || signal.aborted) throw thrown;
      if (!screen.json) screen.failure(thrown);
      const code = exitCodeOf(thrown);
      result.exitCode = result.errors.length === 0 || result.exitCode === code ? code : EXIT.failed;
      result.errors.push({ given: name, code: codeOf(thrown), message: ownWords(messageOf(thrown)) });
    }
  }
  return result;
}

function codeOf(thrown: unknown): string {
  return AsyncAgentsError.isInstance(thrown) ? thrown.code : "internal";
}
