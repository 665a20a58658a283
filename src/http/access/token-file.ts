/**
 * The token of a data folder: one file that only its owner can read, created by the first process that needs it and
 * shared by all. It survives restarts, so other programs can keep it in their configuration. Invariant: a token that
 * somebody else may have read or written is never used.
 */
import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { AsyncAgentsError, messageOf } from "../../model/errors.ts";

const FILE = "token";
const TOKEN = /^[\w-]{43}$/;

/** Reads the token, or creates one. Throws if the file cannot be trusted. */
export function folderToken(directory: string): string {
  const file = join(directory, FILE);
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    return readToken(file) ?? makeToken(file);
  } catch (thrown) {
    if (AsyncAgentsError.isInstance(thrown)) throw thrown;
    throw unusable(file, messageOf(thrown), thrown);
  }
}

function readToken(file: string): string | null {
  let handle: number;
  try {
    handle = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW);
  } catch (thrown) {
    if ((thrown as { code?: unknown }).code === "ENOENT") return null;
    throw thrown;
  }
  try {
    const found = fstatSync(handle);
    if (!found.isFile()) throw unusable(file, "it is not a file");
    const user = process.geteuid?.();
    if (user !== undefined && found.uid !== user) throw unusable(file, `it belongs to another user (uid ${found.uid})`);
    const mode = found.mode & 0o777;
    if (user !== undefined && (mode & 0o077) !== 0) {
      throw unusable(file, `other users may have read it (mode ${mode.toString(8)})`);
    }
    const token = readFileSync(handle, "utf8").trim();
    if (!TOKEN.test(token)) throw unusable(file, "it holds no token");
    return token;
  } finally {
    closeSync(handle);
  }
}

/** Written in full before it gets its name; if several processes create one at once, the first one wins. */
function makeToken(file: string): string {
  const temporary = `${file}.${process.pid}.${crypto.randomUUID()}`;
  try {
    const handle = openSync(temporary, "wx", 0o600);
    try {
      writeSync(handle, `${Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString("base64url")}\n`);
      fsyncSync(handle);
    } finally {
      closeSync(handle);
    }
    linkSync(temporary, file);
  } catch (thrown) {
    if ((thrown as { code?: unknown }).code !== "EEXIST") throw thrown;
  } finally {
    rmSync(temporary, { force: true });
  }
  const token = readToken(file);
  if (token === null) throw unusable(file, "it was removed at once");
  return token;
}

function unusable(file: string, why: string, cause?: unknown): AsyncAgentsError {
  const remedy = "Remove it and start again: a new one is made. Clients that have the old one need the new one.";
  return new AsyncAgentsError("daemon_unavailable", `The token in ${file} cannot be used: ${why}. ${remedy}`, {
    cause,
  });
}
