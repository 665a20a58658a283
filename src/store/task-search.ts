/**
 * How the keyword search finds a part of a description. On SQLite an index of all runs of three characters finds terms of
 * three and more; it is exact, since the description and the term are both in lower case already. Does not rank.
 */
import { type RawBuilder, type SqlBool, sql } from "kysely";
import type { Dialect } from "./database.ts";

/** `index`: through `task_search`; `scan` and `like`: by looking at every description. */
export type SearchWay = "index" | "scan" | "like";

const LEAST_INDEXED = 3;
/** A longer term costs more in the index than it saves. */
const MOST_INDEXED = 200;
/** Characters that SQLite's tokenizer does not tell apart. */
const CONFUSED = /[\0\ud800-\udfff\ufffd-\uffff]/u;

export function searchWay(dialect: Dialect, search: string): SearchWay {
  if (dialect === "postgres") return "like";
  const term = searchTerm(search);
  // Twice as many units as characters at the most: a long text is not counted.
  const length = term.length > 2 * MOST_INDEXED ? term.length : [...term].length;
  return length >= LEAST_INDEXED && length <= MOST_INDEXED && !CONFUSED.test(term) ? "index" : "scan";
}

export function searchTerm(search: string): string {
  return search.toLowerCase();
}

/** The term as one phrase of the index's query language, in which a quoted text is only text. */
export function searchPhrase(search: string): string {
  return `"${searchTerm(search).replaceAll('"', '""')}"`;
}

export function likePattern(search: string): string {
  return `%${searchTerm(search).replaceAll(/[\\%_]/g, "\\$&")}%`;
}

/** The condition on `tasks` or, for `index`, on `task_search`. */
export function searchCondition(way: SearchWay, value: (read: (search: string) => string) => string) {
  const conditions: Record<SearchWay, RawBuilder<SqlBool>> = {
    index: sql`task_search match ${value(searchPhrase)}`,
    // Not LIKE: it refuses long patterns.
    scan: sql`instr(tasks.description_search, ${value(searchTerm)}) > 0`,
    like: sql`tasks.description_search like ${value(likePattern)} escape '\\'`,
  };
  return conditions[way];
}
