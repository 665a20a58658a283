/**
 * Reads `asyncagents.json` in the data folder: JSON, in which comments are allowed. Says where it is wrong. The file of
 * a project is never read: a repository is not trusted. Judges no settings, and writes nothing.
 */
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { join } from "node:path";
import { messageOf } from "../model/errors.ts";
import { parseJsonc, plainOf } from "./jsonc.ts";

const MOST_BYTES = 262_144;

/** `problem` follows the name of the file; `absent` is no problem. */
export type FileContent = { state: "absent" } | { state: "read"; content: unknown } | { problem: string };

export function configurationFile(directory: string): string {
  return join(directory, "asyncagents.json");
}

export function readConfigurationFile(file: string): FileContent {
  let text: string;
  try {
    text = boundedText(file);
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return { state: "absent" };
    return { problem: `cannot be read: ${messageOf(thrown)}` };
  }
  try {
    return { state: "read", content: plainOf(parseJsonc(text)) };
  } catch (thrown) {
    return { problem: `cannot be read: ${messageOf(thrown)}` };
  }
}

function boundedText(file: string): string {
  const descriptor = openSync(file, "r");
  try {
    const { size } = fstatSync(descriptor);
    if (!fstatSync(descriptor).isFile()) throw new Error("it is not a file");
    if (size > MOST_BYTES) throw new Error(`it is larger than ${MOST_BYTES / 1024} kB`);
    const bytes = Buffer.alloc(MOST_BYTES);
    return bytes.toString("utf8", 0, readSync(descriptor, bytes, 0, MOST_BYTES, 0));
  } finally {
    closeSync(descriptor);
  }
}
