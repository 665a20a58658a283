/**
 * The server's warnings about the latest action on an attempt, until they are dismissed.
 */
import { Button } from "../parts/button.tsx";
import { ForeignText } from "../parts/foreign-text.tsx";
import { Icon } from "../parts/icons.tsx";
import { useWarnings } from "./warnings.ts";

export function AttemptWarnings({ attemptId }: { attemptId: string }) {
  const [warnings, forget] = useWarnings(attemptId);
  if (warnings.length === 0) return null;
  return (
    <section
      role="status"
      aria-label="Warnings"
      className="flex min-w-0 items-start gap-2 rounded-lg border border-attention/40 bg-attention-soft px-3 py-2.5"
    >
      <Icon name="warning" className="mt-0.5 text-attention" />
      <ul className="flex min-w-0 flex-1 flex-col gap-1">
        {warnings.map((warning) => (
          <li key={warning} className="foreign">
            <ForeignText text={warning} />
          </li>
        ))}
      </ul>
      <Button weight="quiet" className="-my-1 -mr-1" onClick={forget}>
        Dismiss
      </Button>
    </section>
  );
}
