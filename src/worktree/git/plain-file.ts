/**
 * Reads files of folders that agents write to, and that may come from anybody. Invariant: a read returns at once and is bounded,
 * whatever is at that path; a pipe or a device would hold up the whole process, or fill its memory. Knows nothing of the content.
 */
import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";

const MOST_BYTES = 64 * 1024 * 1024;

/** The text of a plain file; null when there is none, or it is too large to be what git or we have written. */
export function contentOf(file: string): string | null {
  return bytesOf(file, MOST_BYTES)?.toString("utf8") ?? null;
}

export function bytesOf(file: string, mostBytes: number): Buffer | null {
  let handle: number | undefined;
  try {
    // Without waiting: a pipe would be opened only when somebody writes to it.
    handle = openSync(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    const found = fstatSync(handle);
    return found.isFile() && found.size <= mostBytes ? readFileSync(handle) : null;
  } catch {
    return null;
  } finally {
    if (handle !== undefined) closeSync(handle);
  }
}
