/**
 * Reads files in folders that agents can write to. Invariant: a read returns at once and is bounded, whatever is at the
 * path; a pipe or a device would block the whole process, or fill its memory. Does not interpret the content.
 */
import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";

const MOST_BYTES = 64 * 1024 * 1024;

/** The text of a plain file; null if there is none, or if it is larger than anything that git or we write. */
export function contentOf(file: string): string | null {
  return bytesOf(file, MOST_BYTES)?.toString("utf8") ?? null;
}

export function bytesOf(file: string, mostBytes: number): Buffer | null {
  let handle: number | undefined;
  try {
    // Non-blocking: opening a pipe would otherwise wait for a writer.
    handle = openSync(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    const found = fstatSync(handle);
    return found.isFile() && found.size <= mostBytes ? readFileSync(handle) : null;
  } catch {
    return null;
  } finally {
    if (handle !== undefined) closeSync(handle);
  }
}
