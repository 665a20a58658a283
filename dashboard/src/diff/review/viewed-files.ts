/**
 * Which files of an attempt a person has looked at. A mark counts for the file's changes as they were: if they change,
 * it is gone. Remembered in this browser.
 */
import { StoredRecords } from "../../browser/stored-records.ts";
import type { FileDiff } from "../parse-diff.ts";
import { contentMark } from "./content-mark.ts";

const KEPT_ATTEMPTS = 20;
const MOST_FILES = 2000;

const stored = new StoredRecords<Record<string, string>>("asyncagents.viewed", KEPT_ATTEMPTS);

export class ViewedFiles {
  readonly #attemptId: string;
  readonly #listeners = new Set<() => void>();
  #marks: Readonly<Record<string, string>>;

  constructor(attemptId: string) {
    this.#attemptId = attemptId;
    this.#marks = stored.read(attemptId) ?? {};
  }

  readonly subscribe = (listener: () => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Changes with every mark. */
  readonly marks = () => this.#marks;

  has(repo: string, file: FileDiff): boolean {
    return this.#marks[keyOf(repo, file)] === contentMark(file);
  }

  set(repo: string, file: FileDiff, isViewed: boolean): void {
    const { [keyOf(repo, file)]: _old, ...others } = this.#marks;
    const kept = Object.entries(others).slice(-MOST_FILES + 1);
    this.#marks = Object.fromEntries([...kept, ...(isViewed ? [[keyOf(repo, file), contentMark(file)]] : [])]);
    stored.write(this.#attemptId, Object.keys(this.#marks).length === 0 ? null : { ...this.#marks });
    for (const listener of this.#listeners) listener();
  }
}

function keyOf(repo: string, { path }: FileDiff): string {
  return `${repo} ${path}`;
}
