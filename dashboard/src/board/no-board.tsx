/**
 * Replaces the board if the page's server has none, and says how to get one.
 */
import { Button } from "../parts/button.tsx";
import { CopyButton } from "../parts/copy-button.tsx";
import { EmptyState } from "../parts/empty-state.tsx";

const COMMAND = "asyncagents up";

export function NoBoard({ onRetry }: { onRetry: () => void }) {
  return (
    <EmptyState title="The board is not running" icon="board">
      <p className="max-w-md">
        On the board, agents work on items in their own git worktrees, and you review and merge the results. It runs in
        the daemon, which this page’s server cannot reach. Start it in a terminal:
      </p>
      <div className="mt-4 flex items-center gap-1 rounded-lg border border-line bg-surface py-1 pr-1 pl-3">
        <code className="font-mono text-ink">{COMMAND}</code>
        <CopyButton label="Copy" text={() => COMMAND} />
      </div>
      <p className="mt-2 max-w-md text-xs">It prints the address of the page that has the board.</p>
      <Button className="mt-4" onClick={onRetry}>
        Try again
      </Button>
    </EmptyState>
  );
}
