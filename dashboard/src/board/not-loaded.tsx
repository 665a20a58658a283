/**
 * Shown instead of a work item or an attempt that is loading, unknown, or failed to load, or if the server has no
 * board.
 */
import { FailureNote } from "../parts/failure-note.tsx";
import { Link } from "../routing/link.tsx";
import { boardPath } from "../routing/route.ts";
import { codeOf, isWithoutBoard } from "../server/failure.ts";
import { NoBoard } from "./no-board.tsx";

interface NotLoadedProps {
  /** What is missing: "attempt", "work item". */
  what: string;
  query: { error: Error | null; isPending: boolean; refetch(): unknown };
}

export function NotLoaded({ what, query: { error, isPending, refetch } }: NotLoadedProps) {
  if (isWithoutBoard(error)) return <NoBoard onRetry={() => void refetch()} />;
  const isUnknown = codeOf(error) === "not_found" || codeOf(error) === "invalid_input";
  return (
    <div className="mx-auto flex w-full max-w-3xl flex-col gap-4 p-5">
      <h1 className="sr-only">{what === "attempt" ? "Attempt" : "Work item"}</h1>
      {isPending ? (
        <p className="text-muted">Loading the {what}…</p>
      ) : (
        <FailureNote
          title={isUnknown ? `There is no such ${what}` : `The ${what} could not be loaded`}
          failure={error}
          {...(isUnknown ? {} : { onRetry: () => void refetch() })}
        />
      )}
      <Link href={boardPath()} className="self-start text-accent underline underline-offset-2">
        The board
      </Link>
    </div>
  );
}
