/** The search box: shows what is typed immediately and searches when typing pauses. */
import { useEffect, useRef, useState } from "react";
import { SearchField } from "../forms/search-field.tsx";
import { type Filters, listPath } from "../routing/filters.ts";
import { navigate } from "../routing/location.ts";

const REST_MS = 200;

export function SearchBox({ filters }: { filters: Filters }) {
  const [typed, setTyped] = useState(filters.search);
  const asked = useRef(filters.search);

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

  return (
    <SearchField
      label="Search descriptions"
      text={typed}
      onText={setTyped}
      className="min-w-44 flex-1 sm:max-w-72 sm:min-w-56"
    />
  );
}
