/**
 * The search box: shows what is typed at once and searches when the typing rests. "/" focuses it; Escape empties it, then
 * leaves it.
 */
import { type KeyboardEvent, useEffect, useRef, useState } from "react";
import { Icon } from "../parts/icons.tsx";
import { type Filters, listPath } from "../routing/filters.ts";
import { navigate } from "../routing/location.ts";
import { useShortcuts } from "../shell/shortcuts.ts";

const REST_MS = 200;

export function SearchBox({ filters }: { filters: Filters }) {
  const box = useRef<HTMLInputElement>(null);
  const [typed, setTyped] = useState(filters.search);
  const asked = useRef(filters.search);
  useShortcuts({ "/": () => box.current?.select() });

  // The address can change without typing: back, forward, "Clear filters".
  useEffect(() => {
    if (filters.search !== asked.current) setTyped(filters.search);
    asked.current = filters.search;
  }, [filters.search]);
  useEffect(() => {
    if (typed === asked.current) return;
    const rest = setTimeout(() => {
      asked.current = typed;
      navigate(listPath({ ...filters, search: typed }), { replace: true });
    }, REST_MS);
    return () => clearTimeout(rest);
  }, [typed, filters]);

  const leave = (event: KeyboardEvent) => {
    if (event.key !== "Escape") return;
    event.preventDefault();
    if (typed === "") box.current?.blur();
    else setTyped("");
  };
  return (
    <div className="relative min-w-0 flex-1 sm:max-w-72 sm:min-w-56">
      <Icon name="search" className="pointer-events-none absolute top-2 left-2.5 text-faint" />
      <input
        ref={box}
        type="search"
        aria-label="Search descriptions"
        aria-keyshortcuts="/"
        placeholder="Search descriptions"
        autoComplete="off"
        spellCheck={false}
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
        onKeyDown={leave}
        className="h-8 w-full rounded-md bg-surface pr-2 pl-8 ring-1 ring-line ring-inset placeholder:text-faint"
      />
    </div>
  );
}
