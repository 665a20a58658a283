/**
 * The list of keys, for "?".
 */
import { Dialog } from "../parts/dialog.tsx";

const KEYS = [
  [["/"], "Search"],
  [["j", "↓"], "Next task"],
  [["k", "↑"], "Previous task"],
  [["Enter"], "Open the selected task"],
  [["b"], "Open the selected task's batch"],
  [["Esc"], "Clear the search, the selection, the filters; go back to the list"],
  [["j", "k"], "In a conversation: the next message, the previous message"],
  [["Home", "End"], "In a conversation: its first message, its newest message"],
  [["e"], "In a conversation: the next error"],
  [["p"], "On a task or a batch: its parent"],
  [["[", "]"], "On a task or a batch: the previous task of the batch, the next one"],
  [["f"], "On a task or a batch: the next failure of the batch"],
  [["Ctrl K"], "Search tasks, pages and actions"],
  [["i"], "What needs you"],
  [["n"], "Launch a task"],
  [["Ctrl Enter"], "In a form: send it"],
  [["c"], "On the board: new work item"],
  [["↑", "↓", "←", "→"], "On the board: go from card to card"],
  [["Shift ←", "Shift →"], "On the board: move the card"],
  [["?"], "This list"],
] as const;

export function ShortcutsDialog({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      <dl className="grid grid-cols-[auto_1fr] items-center gap-x-5 gap-y-2.5">
        {KEYS.map(([keys, meaning]) => (
          <div key={meaning} className="contents">
            <dt className="flex gap-1">
              {keys.map((key) => (
                <kbd
                  key={key}
                  className="min-w-6 rounded-md border border-strong-line bg-raised px-1.5 py-0.5 text-center font-mono text-xs"
                >
                  {key}
                </kbd>
              ))}
            </dt>
            <dd className="text-muted">{meaning}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
