/**
 * Commands that work on the store itself use the one of their shell, and the daemon keeps the one that it was started
 * with. Whoever opens a store here, or asks the daemon, says so where these are two. Changes neither.
 */
import { type DaemonRecord, findDaemon } from "../daemon/find-daemon.ts";
import type { Store } from "../store/store.ts";
import { storeSetting } from "../store/store-setting.ts";
import type { Invocation } from "./command.ts";
import type { Screen } from "./terminal/screen.ts";

/**
 * What differs, as a sentence; null if the stores are the same. `wanted`: the PostgreSQL database that a daemon started
 * by this command would use; null for SQLite.
 */
export function otherStore({ postgres }: Pick<DaemonRecord, "postgres">, wanted: string | null): string | null {
  if (postgres === wanted) return null;
  return `The daemon keeps its tasks in ${storeName(postgres)}, and this command would use ${storeName(wanted)}.`;
}

export function warnOfOtherStore(screen: Screen, daemon: DaemonRecord, wanted: string | null): void {
  const stores = otherStore(daemon, wanted);
  if (stores !== null) screen.hint(`${stores} To change that: asyncagents restart`);
}

type Caller = Pick<Invocation, "directory" | "configuration" | "screen">;

/** For commands that use the store of this shell, whatever the daemon uses. */
export function warnOfOwnStore({ directory, configuration, screen }: Caller): void {
  const daemon = findDaemon(directory);
  const own = storeSetting(configuration().store)?.shown ?? null;
  if (daemon === null || daemon.postgres === own) return;
  const stores = `This command uses ${storeName(own)}, and the daemon keeps its tasks in ${storeName(daemon.postgres)}.`;
  screen.hint(`${stores} Set ASYNCAGENTS_STORE as where the daemon was started, if you mean that one.`);
}

/** The store of this shell. */
export async function openOwnStore(caller: Caller): Promise<Store> {
  warnOfOwnStore(caller);
  const { openStore } = await import("../store/open.ts");
  return openStore({ directory: caller.directory, ...caller.configuration().store });
}

function storeName(postgres: string | null): string {
  return postgres ?? "SQLite, in the data folder";
}
