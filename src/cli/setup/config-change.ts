/**
 * One change to a client's configuration file: a preview as a small diff, and the write. The write is atomic and
 * keeps a backup; a link stays a link. A file that cannot be read safely is left alone.
 */
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import { AsyncAgentsError, messageOf } from "../../model/errors.ts";
import type { Paint } from "../terminal/paint.ts";

const CONTEXT = 2;

export interface ConfigChange {
  file: string;
  /** Empty if the file does not exist. */
  before: string;
  after: string;
  /** A token in it, which is not shown: afterwards only its owner may read the file and its backups. */
  secret?: string | undefined;
}

const IN_ITS_PLACE = "<what the file token in the data folder contains>";

/** As it may be shown: terminals and logs are read by others. */
export function withoutSecret(text: string, secret: string | undefined): string {
  return secret === undefined ? text : text.replaceAll(secret, IN_ITS_PLACE);
}

/** The change that `edit` makes to the file; the advice is shown if that fails. */
export function planChange(file: string, edit: (text: string) => string, advice: string): ConfigChange {
  const before = existsSync(file) ? readFileSync(file, "utf8") : "";
  try {
    const after = edit(before.trim() === "" ? "{}\n" : before);
    return { file, before, after };
  } catch (cause) {
    const message = `${file} was not changed: ${messageOf(cause)}. Add this yourself:\n${advice}`;
    throw new AsyncAgentsError("invalid_input", message, { cause });
  }
}

/** Returns the backup's path; null if there was nothing to back up. */
export function writeChange({ file, before, after, secret }: ConfigChange, now: Date): string | null {
  const isSecret = secret !== undefined;
  mkdirSync(dirname(file), { recursive: true });
  const target = existsSync(file) ? realpathSync(file) : file;
  const current = existsSync(target) ? readFileSync(target, "utf8") : "";
  if (current !== before) {
    throw new AsyncAgentsError(
      "request_conflict",
      `${file} was changed in the meantime. Nothing was written; try again.`,
    );
  }
  const mode = existsSync(target) && !isSecret ? statSync(target).mode & 0o777 : 0o600;
  const backup = existsSync(target) ? `${target}.${now.toISOString().replaceAll(/[-:]|\..*/g, "")}.bak` : null;
  if (backup) copyFileSync(target, backup);
  if (backup && isSecret) chmodSync(backup, mode);
  const temporary = `${target}.${process.pid}.tmp`;
  writeFileSync(temporary, after, { mode, flag: "wx" });
  renameSync(temporary, target);
  return backup;
}

/** The changed lines, with a few lines of context. */
export function diffLines({ before, after, secret }: ConfigChange, paint: Paint): string[] {
  const [old = [], next = []] = [before, after].map((text) => linesOf(withoutSecret(text, secret)));
  let start = 0;
  while (start < old.length && start < next.length && old[start] === next[start]) start++;
  let tail = 0;
  while (tail < old.length - start && tail < next.length - start && old.at(-1 - tail) === next.at(-1 - tail)) tail++;
  const end = (lines: readonly string[]) => lines.length - tail;
  return [
    ...old.slice(Math.max(0, start - CONTEXT), start).map((line) => `  ${line}`),
    ...old.slice(start, end(old)).map((line) => paint.red(`- ${line}`)),
    ...next.slice(start, end(next)).map((line) => paint.green(`+ ${line}`)),
    ...next.slice(end(next), end(next) + CONTEXT).map((line) => `  ${line}`),
  ];
}

function linesOf(text: string): string[] {
  return text === "" ? [] : text.replace(/\n$/, "").split("\n");
}
