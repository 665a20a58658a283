/**
 * Reads the address of a PostgreSQL database. What is shown of it never contains the password. Where the address is
 * set is up to the caller. Opens nothing.
 */
import { AsyncAgentsError } from "../model/errors.ts";

export interface PostgresSetting {
  connectionString: string;
  /** The address without the password and the parameters, for people. */
  shown: string;
}

const EXAMPLE = "postgres://user:password@host:5432/database";
const HINT = `Characters such as # / ? @ in the password must be percent-encoded (# is %23); write it as ${EXAMPLE}`;

/** Null: SQLite, in the data folder. */
export function storeSetting({ address }: { address: string | undefined }): PostgresSetting | null {
  if (address === undefined) return null;
  const setting = postgresAddress(address);
  if (!("problem" in setting)) return setting;
  const message = `The address of the store ${setting.problem}, or unset it to keep the tasks in the data folder.`;
  throw new AsyncAgentsError("store_unavailable", message);
}

/** The problem continues a sentence, and never contains any part of the text. */
export function postgresAddress(text: string): PostgresSetting | { problem: string } {
  if (!/^postgres(ql)?:\/\//.test(text)) {
    return { problem: `is not the address of a PostgreSQL database. Write it as ${EXAMPLE}` };
  }
  try {
    const { protocol, username, host, pathname } = new URL(text);
    // A slash in the password: what follows it would be shown as the name of the database.
    if (pathname.includes("@")) return { problem: `cannot be read as an address. ${HINT}` };
    const user = username === "" ? "" : `${username}@`;
    return { connectionString: text, shown: `${protocol}//${user}${host}${pathname}` };
  } catch {
    return { problem: `cannot be read as an address. ${HINT}` };
  }
}
