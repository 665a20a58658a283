/** Exclusive access to a SQLite store, for work that no other process may disturb. Does not wait for others to end. */
import { AsyncAgentsError } from "../../model/errors.ts";
import { type Lock, tryLock } from "../sqlite/file-lock.ts";
import { lockFileOf } from "./damage.ts";

/** Throws what to do if another process uses the store. While it is held, none can open it. */
export function lockAlone(file: string): Lock {
  const lock = tryLock(lockFileOf(file), "alone");
  if (lock !== null) return lock;
  const message =
    "The store is in use. Stop the daemon (asyncagents down) and end every OpenCode with the plugin, then try again.";
  throw new AsyncAgentsError("store_unavailable", message, { details: { file } });
}
