/**
 * How the search finds tasks: every word must occur in the description, the id or the newest run's error, in any order
 * and ignoring case. An index of trigrams finds words of three characters and more. Does not rank.
 */
import { type RawBuilder, type SqlBool, sql } from "kysely";
import type { Task } from "../../model/task.ts";
import type { Dialect } from "../database.ts";

export interface SearchShape {
  /** `index`: through `task_search`; `scan`: by reading every task that other filters leave. */
  way: "index" | "scan";
  dialect: Dialect;
  /** How many words there are. */
  words: number;
}

const LEAST_INDEXED = 3;
/** Looking up a longer word in the index costs more than it saves. */
const MOST_INDEXED = 200;
/** The words beyond are searched as one, as they stand. */
const MOST_WORDS = 8;
/** Characters of an error that are searched; must equal that of migration 6. */
const ERROR_CHARS = 500;
/** Characters that SQLite's tokenizer cannot distinguish. */
const CONFUSED = /[\0\ud800-\udfff\ufffd-\uffff]/u;

/** The searched text of a task. A word contains no line break, so it never matches across two parts. */
export function searchText({ description, id, run }: Pick<Task, "description" | "id" | "run">): string {
  return [description, id, (run.error ?? "").slice(0, ERROR_CHARS)].join("\n").toLowerCase();
}

/** Null if there is nothing to search for. */
export function searchShape(dialect: Dialect, search: string): SearchShape | null {
  const words = searchWords(search);
  if (words.length === 0) return null;
  // PostgreSQL reads the whole of `task_search` for a word that is too short.
  const way = dialect === "postgres" || words.every(isIndexed) ? "index" : "scan";
  return { way, dialect, words: words.length };
}

/** Without an index: for the few tasks that another filter leaves. */
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
  // A string has at most two units per character, so a long text need not be counted.
  const length = word.length > 2 * MOST_INDEXED ? word.length : [...word].length;
  return length >= LEAST_INDEXED && length <= MOST_INDEXED && !CONFUSED.test(word);
}

/** The words in the index's query language, where quoted text is literal. */
function indexQuery(search: string): string {
  return searchWords(search)
    .map((word) => `"${word.replaceAll('"', '""')}"`)
    .join(" AND ");
}

/** The condition on `tasks` or, for `index`, on `task_search`. */
export function searchCondition(
  { way, dialect, words }: SearchShape,
  value: (read: (search: string) => string) => string,
): RawBuilder<SqlBool> {
  if (way === "index" && dialect === "sqlite") return sql`task_search match ${value(indexQuery)}`;
  const word = (search: string, index: number) => searchWords(search)[index] ?? "";
  const text = sql.ref(way === "index" ? "task_search.description" : "tasks.description_search");
  const each = Array.from({ length: words }, (_, index) =>
    dialect === "sqlite"
      ? // Not LIKE: it refuses long patterns.
        sql`instr(${text}, ${value((search) => word(search, index))}) > 0`
      : sql`${text} like ${value((search) => likePattern(word(search, index)))} escape '\\'`,
  );
  return sql`(${sql.join(each, sql` and `)})`;
}

export function likePattern(word: string): string {
  return `%${word.replaceAll(/[\\%_]/g, "\\$&")}%`;
}
