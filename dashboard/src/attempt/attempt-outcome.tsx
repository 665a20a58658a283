/**
 * The result of an attempt's newest run, or why it failed.
 */

import { LongText } from "../conversation/long-text.tsx";
import { RichText } from "../conversation/rich-text.tsx";
import type { Attempt } from "../server/operate.ts";
import { isAtWork } from "../wording/attempts.ts";

export function AttemptOutcome({ attempt }: { attempt: Attempt }) {
  const { error, final_message } = attempt;
  if (isAtWork(attempt.state)) return null;
  return (
    <>
      {error !== null && (
        <section aria-label="Error">
          <h2 className="mb-2 text-[15px] font-semibold text-error">Error</h2>
          <LongText label="Text of the error" text={error} isError />
        </section>
      )}
      {final_message !== null && final_message.trim() !== "" && (
        <section aria-label="Result">
          <h2 className="mb-2 text-[15px] font-semibold">Result</h2>
          <div className="rounded-lg border border-line bg-surface px-4 py-3">
            <RichText text={final_message} />
          </div>
        </section>
      )}
    </>
  );
}
