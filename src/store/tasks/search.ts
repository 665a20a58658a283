/**
 * How the search finds tasks: every word must be somewhere in the description, the id or the newest run's error, in any order
 * and without regard to case. On SQLite an index of all runs of three characters finds words of three and more. Does not rank.
 */
import { type RawBuilder, type SqlBool, sql } from "kysely";
import type { Task } from "../../model/task.ts";
import type { Dialect } from "../database.ts";

/** `index`: through `task_search`; `scan` and `like`: by looking at every task. */
export interface SearchShape {
  way: "index" | "scan" | "like";
  /** How many words there are. */
  words: number;
}

const LEAST_INDEXED = 3;
/** A longer word costs more in the index than it saves. */
const MOST_INDEXED = 200;
/** The words beyond are looked for as they stand, as one. */
const MOST_WORDS = 8;
/** Of an error; migration 6 says the same. */
const ERROR_CHARS = 500;
/** Characters that SQLite's tokenizer does not tell apart. */
const CONFUSED = /[\0\ud800-\udfff\ufffd-\uffff]/u;

/** What is searched of a task. A word has no line break in it, so it is never found across two of them. */
export function searchText({ description, id, run }: Pick<Task, "description" | "id" | "run">): string {
  return [description, id, (run.error ?? "").slice(0, ERROR_CHARS)].join("\n").toLowerCase();
}

/** Null where there is nothing to look for. */
export function searchShape(dialect: Dialect, search: string): SearchShape | null {
  const words = searchWords(search);
  if (words.length === 0) return null;
  if (dialect === "postgres") return { way: "like", words: words.length };
  return { way: words.every(isIndexed) ? "index" : "scan", words: words.length };
}

/** Through no index: for the few tasks that another filter leaves. */
export function scanned(shape: SearchShape): SearchShape {
  return { ...shape, way: "scan" };
}

function searchWords(search: string): string[] {
  return wordsOf(search.toLowerCase());
}

export function wordsOf(search: string): string[] {
  const words = search.split(/\s+/).filter((word) => word !== "");
  if (words.length <= MOST_WORDS) return words;
  return [...words.slice(0, MOST_WORDS - 1), words.slice(MOST_WORDS - 1).join(" ")];
}

function isIndexed(word: string): boolean {
  // Twice as many units as characters at the most: a long text is not counted.
  const length = word.length > 2 * MOST_INDEXED ? word.length : [...word].length;
  return length >= LEAST_INDEXED && length <= MOST_INDEXED && !CONFUSED.test(word);
}

/** The words in the index's query language, in which a quoted text is only text. */
function indexQuery(search: string): string {
  return searchWords(search)
    .map((word) => `"${word.replaceAll('"', '""')}"`)
    .join(" AND ");
}

/** The condition on `tasks` or, for `index`, on `task_search`. */
export function searchCondition(
  { way, words }: SearchShape,
  value: (read: (search: string) => string) => string,
): RawBuilder<SqlBool> {
  if (way === "index") return sql`task_search match ${value(indexQuery)}`;
  const word = (search: string, index: number) => searchWords(search)[index] ?? "";
  const each = Array.from({ length: words }, (_, index) =>
    way === "scan"
      ? // Not LIKE: it refuses long patterns.
        sql`instr(tasks.description_search, ${value((search) => word(search, index))}) > 0`
      : sql`tasks.description_search like ${value((search) => likePattern(word(search, index)))} escape '\\'`,
  );
  return sql`(${sql.join(each, sql` and `)})`;
}

export function likePattern(word: string): string {
  return `%${word.replaceAll(/[\\%_]/g, "\\$&")}%`;
}
