/**
 * Interprets error codes of SQLite and the file system: busy (retry), damaged (see `damage.ts`), or unavailable with a
 * message that names the folder and says what to do. Other errors pass through.
 */
import { dirname } from "node:path";
import { AsyncAgentsError, messageOf } from "../../model/errors.ts";

export function codeOf(thrown: unknown): string {
  if (typeof thrown !== "object" || thrown === null || !("code" in thrown)) return "";
  return typeof thrown.code === "string" ? thrown.code : "";
}

export function isBusy(thrown: unknown): boolean {
  return /^SQLITE_(BUSY|LOCKED)/.test(codeOf(thrown));
}

export function isDamage(thrown: unknown): boolean {
  return /^SQLITE_(CORRUPT|NOTADB)/.test(codeOf(thrown));
}

/** The error to throw for any failure of the database at `file`. */
export function storeFailure(thrown: unknown, file: string): unknown {
  if (AsyncAgentsError.isInstance(thrown)) return thrown;
  const advice = adviceFor(codeOf(thrown), dirname(file));
  if (advice === null) return thrown;
  const message = `The task store at ${file} cannot be used (${messageOf(thrown)}). ${advice}`;
  return new AsyncAgentsError("store_unavailable", message, { cause: thrown, details: { file } });
}

function adviceFor(code: string, folder: string): string | null {
  if (/^(SQLITE_FULL|SQLITE_IOERR_WRITE|ENOSPC|EDQUOT)$/.test(code)) {
    return `Free some space on the disk that holds ${folder}, then try again.`;
  }
  if (/^(SQLITE_(READONLY|CANTOPEN|PERM|AUTH).*|EACCES|EPERM|EROFS|ENOTDIR|EEXIST|EISDIR|ELOOP|ENOENT)$/.test(code)) {
    return `Make ${folder} a folder that you may write to, or set ASYNCAGENTS_HOME to another one.`;
  }
  if (isBusy({ code })) {
    return `Another process keeps it locked: end the asyncagents process that hangs (see who uses ${folder}), then try again.`;
  }
  if (isDamage({ code })) {
    return `It is damaged: end every process that uses ${folder} and start again; it is then checked and set aside.`;
  }
  if (code.startsWith("SQLITE_IOERR") || code === "EIO") {
    return `Check the disk that holds ${folder} and that the folder still exists, then start again.`;
  }
  return null;
}
