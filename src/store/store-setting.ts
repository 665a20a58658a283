/**
 * Reads `ASYNCAGENTS_STORE`: where the tasks are kept. Every program of ours that opens a store reads it here. What is
 * shown of it never contains the password. Opens nothing.
 */
import { AsyncAgentsError } from "../model/errors.ts";

export interface PostgresSetting {
  connectionString: string;
  /** The address without the password and the parameters, for people. */
  shown: string;
}

const VARIABLE = "ASYNCAGENTS_STORE";
const EXAMPLE = "postgres://user:password@host:5432/database";

/** Null: SQLite, in the data folder. */
export function storeSetting(environment: Readonly<Record<string, string | undefined>>): PostgresSetting | null {
  const connectionString = environment[VARIABLE]?.trim() ?? "";
  if (connectionString === "") return null;
  if (!/^postgres(ql)?:\/\//.test(connectionString)) {
    throw invalid(`${VARIABLE} is not the address of a PostgreSQL database. Write it as ${EXAMPLE}`);
  }
  try {
    const { protocol, username, host, pathname } = new URL(connectionString);
    const user = username === "" ? "" : `${username}@`;
    return { connectionString, shown: `${protocol}//${user}${host}${pathname}` };
  } catch {
    // Without the cause: it would show the password.
    const hint = "Characters such as # / ? @ in the password must be percent-encoded (# is %23)";
    throw invalid(`${VARIABLE} cannot be read as an address. ${hint}; write it as ${EXAMPLE}`);
  }
}

function invalid(what: string): AsyncAgentsError {
  return new AsyncAgentsError("store_unavailable", `${what}, or unset it to keep the tasks in the data folder.`);
}
