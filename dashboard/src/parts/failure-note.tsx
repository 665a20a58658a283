/**
 * An error in the server's own words, with a retry button if that can help.
 */
import { codeOf, failureText } from "../server/failure.ts";
import { Button } from "./button.tsx";
import { ForeignText } from "./foreign-text.tsx";
import { Icon } from "./icons.tsx";

interface FailureNoteProps {
  title: string;
  failure: unknown;
  onRetry?: () => void;
}

export function FailureNote({ title, failure, onRetry }: FailureNoteProps) {
  const code = codeOf(failure);
  return (
    <div
      role="alert"
      data-code={code ?? undefined}
      className="flex flex-wrap items-start gap-x-3 gap-y-2 rounded-lg border border-error/35 bg-error/8 px-3 py-2.5"
    >
      <Icon name="error" className="mt-0.5 text-error" />
      <div className="min-w-0 flex-1">
        <p className="font-medium text-error">{title}</p>
        <p className="foreign text-ink">
          <ForeignText text={failureText(failure)} />
        </p>
      </div>
      {onRetry && <Button onClick={onRetry}>Try again</Button>}
    </div>
  );
}
