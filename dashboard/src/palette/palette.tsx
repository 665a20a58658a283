/**
 * The command palette: a box to type in, and below it what can be done or opened. The browser's own dialog keeps the
 * focus inside and closes on Escape; the box keeps the focus, and the arrow keys choose.
 */
import { type KeyboardEvent, type PointerEvent, useEffect, useId, useRef, useState } from "react";
import { ForeignText } from "../parts/foreign-text.tsx";
import { Icon } from "../parts/icons.tsx";
import { StatusIcon } from "../parts/status-mark.tsx";
import { countText } from "../wording/amounts.ts";
import { hasNotStarted } from "../wording/phase.ts";
import { type Entry, type PageActions, useEntries } from "./use-entries.ts";

const KEY = "rounded border border-strong-line bg-raised px-1.5 font-mono text-[11px] text-muted";

export function Palette({ onClose, ...page }: PageActions & { onClose: () => void }) {
  const element = useRef<HTMLDialogElement>(null);
  const [text, setText] = useState("");
  const [chosen, setChosen] = useState(0);
  const id = useId();
  const { groups, found } = useEntries(text, page);
  const entries = groups.flatMap((group) => group.entries);
  const current = Math.min(chosen, entries.length - 1);
  useEffect(() => {
    if (!element.current?.open) element.current?.showModal();
  }, []);
  useEffect(() => {
    document.getElementById(`${id}-${current}`)?.scrollIntoView({ block: "nearest" });
  }, [id, current]);
  const run = (entry: Entry | undefined) => {
    if (entry === undefined) return;
    // First: a dialog that the action opens must not be closed with this one.
    element.current?.close();
    entry.run();
  };
  const press = (event: KeyboardEvent) => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (event.key === "Enter" && !event.nativeEvent.isComposing) run(entries[current]);
    else if (step !== 0) setChosen((current + step + entries.length) % Math.max(1, entries.length));
    else return;
    event.preventDefault();
  };
  const closeOutside = (event: PointerEvent) => {
    if (event.target === element.current) element.current?.close();
  };
  let index = 0;
  return (
    <dialog
      ref={element}
      aria-label="Command palette"
      onClose={onClose}
      onPointerDown={closeOutside}
      className="mx-auto mt-[10dvh] w-[min(40rem,calc(100vw-1.5rem))] rounded-xl border border-strong-line bg-surface text-ink shadow-2xl"
    >
      <div className="flex max-h-[min(32rem,76dvh)] flex-col">
        <div className="flex items-center gap-2.5 border-b border-line px-4">
          <Icon name="search" className="text-faint" />
          <input
            role="combobox"
            aria-label="Search tasks, pages and actions"
            aria-expanded="true"
            aria-controls={`${id}-list`}
            aria-activedescendant={entries.length > 0 ? `${id}-${current}` : undefined}
            aria-autocomplete="list"
            autoComplete="off"
            spellCheck={false}
            placeholder="Search tasks, or type what to do"
            value={text}
            onChange={(event) => {
              setText(event.target.value);
              setChosen(0);
            }}
            onKeyDown={press}
            className="h-12 min-w-0 flex-1 bg-transparent text-[15px] outline-none placeholder:text-faint"
          />
          <kbd className={KEY}>Esc</kbd>
        </div>
        <div id={`${id}-list`} role="listbox" aria-label="Results" className="min-h-0 overflow-y-auto px-2 py-2">
          {groups.map(({ name, entries: own }) => (
            <fieldset key={name} aria-label={name} className="min-w-0 pb-1.5">
              <p aria-hidden="true" className="px-2 py-1 text-xs text-faint">
                {name}
              </p>
              {own.map((entry) => {
                const place = index++;
                return (
                  <Option
                    key={entry.id}
                    id={`${id}-${place}`}
                    entry={entry}
                    isChosen={place === current}
                    onPoint={() => setChosen(place)}
                    onRun={() => run(entry)}
                  />
                );
              })}
            </fieldset>
          ))}
          {entries.length === 0 && (
            <p className="px-2 py-6 text-center text-muted">{found.isLate ? "Searching…" : "Nothing matches."}</p>
          )}
        </div>
        <p role="status" className="border-t border-line px-4 py-2 text-xs text-faint">
          {found.isLate
            ? "Searching…"
            : `${countText(found.total)} ${found.total === 1 ? "task" : "tasks"}${text.trim() === "" ? " in all" : " match"}`}
        </p>
      </div>
    </dialog>
  );
}

interface OptionProps {
  id: string;
  entry: Entry;
  isChosen: boolean;
  onPoint: () => void;
  onRun: () => void;
}

function Option({ id, entry: { label, keys, task }, isChosen, onPoint, onRun }: OptionProps) {
  return (
    <button
      type="button"
      tabIndex={-1}
      id={id}
      role="option"
      aria-selected={isChosen}
      onPointerMove={onPoint}
      onClick={onRun}
      className={`flex h-9 w-full items-center gap-2.5 rounded-md px-2 text-left ${isChosen ? "bg-raised" : ""}`}
    >
      {task ? (
        <span data-status={task.status} className="inline-flex">
          <StatusIcon status={task.status} isStill isWaiting={hasNotStarted(task)} />
          <span className="sr-only">{task.status}</span>
        </span>
      ) : (
        <Icon name="chevron" className="text-faint" />
      )}
      <span className="foreign min-w-0 truncate">
        <ForeignText text={label} />
      </span>
      {task && (
        <span className="foreign ml-auto shrink-0 text-xs text-faint">
          <ForeignText text={task.agent} />
        </span>
      )}
      {keys && <kbd className={`ml-auto ${KEY}`}>{keys}</kbd>}
    </button>
  );
}
