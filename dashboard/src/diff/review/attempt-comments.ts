/**
 * Comments on the lines of a diff, kept for each attempt until they are sent, so that a reload loses nothing. Typing
 * writes at once, but tells only those who show the comment itself.
 */
import { StoredRecords } from "../../browser/stored-records.ts";
import type { DiffLine } from "../parse-diff.ts";
import { isAt, type LineComment, placeOf, quoteOf } from "./line-comment.ts";

export const MOST_COMMENTS = 50;
export const COMMENT_CHARS = 2000;
const KEPT_ATTEMPTS = 20;

const stored = new StoredRecords<LineComment[]>("asyncagents.comments", KEPT_ATTEMPTS);
const NONE: readonly LineComment[] = [];

export class AttemptComments {
  readonly #attemptId: string;
  readonly #listeners = new Set<() => void>();
  #all: readonly LineComment[];
  #byFile: ReadonlyMap<string, readonly LineComment[]>;

  constructor(attemptId: string) {
    this.#attemptId = attemptId;
    this.#all = stored.read(attemptId) ?? NONE;
    this.#byFile = Map.groupBy(this.#all, fileOf);
  }

  readonly subscribe = (listener: () => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly all = (): readonly LineComment[] => this.#all;

  /** The same array as long as its comments are the same. */
  of(repo: string, path: string): readonly LineComment[] {
    return this.#byFile.get(fileOf({ repo, path })) ?? NONE;
  }

  /** Begins one; does nothing if the line has one, or if there are too many. */
  begin(repo: string, path: string, line: DiffLine): void {
    const place = placeOf(line);
    if (place === null || this.#all.length >= MOST_COMMENTS) return;
    if (this.of(repo, path).some((comment) => isAt(comment, line))) return;
    this.#set([...this.#all, { repo, path, ...place, quote: quoteOf(line), text: "" }]);
  }

  /** Kept at once; the views hear of it with `tell`. */
  type(comment: LineComment, text: string): void {
    comment.text = text.slice(0, COMMENT_CHARS);
    stored.write(this.#attemptId, [...this.#all]);
  }

  tell(): void {
    this.#set([...this.#all]);
  }

  remove(comment: LineComment): void {
    this.#set(this.#all.filter((each) => each !== comment));
  }

  clear(): void {
    this.#set([]);
  }

  #set(all: readonly LineComment[]): void {
    const byFile = Map.groupBy(all, fileOf);
    const isSame = (one: readonly LineComment[] | undefined, other: readonly LineComment[]) =>
      one?.length === other.length && one.every((comment, index) => comment === other[index]);
    this.#byFile = new Map(
      [...byFile].map(([file, comments]) => {
        const known = this.#byFile.get(file);
        return [file, known && isSame(known, comments) ? known : comments];
      }),
    );
    this.#all = all;
    stored.write(this.#attemptId, all.length === 0 ? null : [...all]);
    for (const listener of this.#listeners) listener();
  }
}

function fileOf({ repo, path }: Pick<LineComment, "repo" | "path">): string {
  return JSON.stringify([repo, path]);
}
