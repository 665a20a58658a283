/**
 * A box to search or filter with. "/" focuses it; Escape clears it, then leaves it. The owner decides what to do with
 * the text.
 */
import { type KeyboardEvent, useRef } from "react";
import { Icon } from "../parts/icons.tsx";
import { useShortcuts } from "../shell/shortcuts.ts";

interface SearchFieldProps {
  label: string;
  text: string;
  onText(text: string): void;
  className: string;
}

export function SearchField({ label, text, onText, className }: SearchFieldProps) {
  const box = useRef<HTMLInputElement>(null);
  useShortcuts({ "/": () => box.current?.select() });
  const leave = (event: KeyboardEvent) => {
    if (event.key !== "Escape") return;
    event.preventDefault();
    if (text === "") box.current?.blur();
    else onText("");
  };
  return (
    <div className={`relative ${className}`}>
      <Icon name="search" className="pointer-events-none absolute top-2 left-2.5 text-faint" />
      <input
        ref={box}
        type="search"
        aria-label={label}
        aria-keyshortcuts="/"
        placeholder={label}
        autoComplete="off"
        spellCheck={false}
        value={text}
        onChange={(event) => onText(event.target.value)}
        onKeyDown={leave}
        className="h-8 w-full rounded-md bg-surface pr-2 pl-8 ring-1 ring-line ring-inset placeholder:text-faint"
      />
    </div>
  );
}
