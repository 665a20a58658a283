/**
 * Remembers what a query read until somebody writes to one of its tables: the processes of a simulation ask the same
 * questions all the time, and most of the time nothing has changed. Wraps the statements of one SQLite handle; the code
 * above sees no difference. Invariant: a remembered answer is the one that SQLite would give.
 */
import type { Database as Sqlite, Statement } from "bun:sqlite";

type Rows = Record<string, unknown>[];

/** Of each query, what it read, with its parameters as the key. */
type Answers = Set<Map<string, Rows>>;

type Place = [table: string, answers: Answers];

/** The part of a statement that the store uses. */
type Used = Pick<Statement, "columnNames" | "all" | "run" | "finalize">;

export class ReadMemory {
  /** By table, the answers that depend on it. */
  readonly #answers = new Map<string, Answers>();
  /** The tables that were written to; whoever reads it may empty it. */
  readonly written = new Set<string>();

  /** From now on, the statements that `handle` prepares use this memory. */
  constructor(handle: Sqlite) {
    const prepare = handle.prepare.bind(handle);
    handle.prepare = ((sql: string) => {
      const statement = prepare(sql);
      return /^select\b/i.test(sql) ? this.#reading(sql, statement) : this.#writing(sql, statement);
    }) as Sqlite["prepare"];
  }

  /** Begins to remember. All tables must be named: until then nothing is remembered. */
  start(tables: readonly string[]): void {
    for (const table of tables) this.#answers.set(table, new Set());
  }

  /** For changes that no statement made: a transaction was rolled back. */
  clear(): void {
    for (const all of this.#answers.values()) for (const answers of all) answers.clear();
  }

  #reading(sql: string, statement: Statement): Used {
    const answers = new Map<string, Rows>();
    const { columnNames } = statement;
    let places: Place[] = [];
    return {
      columnNames,
      finalize() {
        for (const [, place] of places) place.delete(answers);
        statement.finalize();
      },
      all: (...parameters: never[]) => {
        if (places.length === 0) {
          places = this.#tablesIn(sql);
          for (const [, place] of places) place.add(answers);
        }
        const key = JSON.stringify(parameters);
        const rows = answers.get(key) ?? (statement.all(...parameters) as Rows);
        if (places.length > 0) answers.set(key, rows);
        return rows.map((row) => ({ ...row }));
      },
      run: (...parameters: never[]) => statement.run(...parameters),
    };
  }

  #writing(sql: string, statement: Statement): Used {
    const { columnNames } = statement;
    let places: Place[] = [];
    const forget = () => {
      if (places.length === 0) places = this.#tablesIn(sql);
      for (const [table, place] of places) {
        this.written.add(table);
        for (const answers of place) answers.clear();
      }
    };
    return {
      columnNames,
      finalize: () => statement.finalize(),
      all(...parameters: never[]) {
        forget();
        return statement.all(...parameters);
      },
      run(...parameters: never[]) {
        forget();
        return statement.run(...parameters);
      },
    };
  }

  /** Rather too many than too few: a table is meant wherever its name occurs as a word. */
  #tablesIn(sql: string): Place[] {
    return [...this.#answers].filter(([table]) => new RegExp(`\\b${table}\\b`).test(sql));
  }
}
