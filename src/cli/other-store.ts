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

const AS_THE_DAEMON = "Set ASYNCAGENTS_STORE here as where the daemon was started";

/** A restart comes second: the tasks stay in the store that the daemon leaves. */
export const SAME_STORE = `${AS_THE_DAEMON}. Or, so that the daemon uses the store of this shell: asyncagents restart`;

/** Returns whether they are two. */
export function warnOfOtherStore(screen: Screen, daemon: DaemonRecord, wanted: string | null): boolean {
  const stores = otherStore(daemon, wanted);
  if (stores !== null) screen.hint(`${stores} ${SAME_STORE}`);
  return stores !== null;
}

/** After a restart. */
export function warnOfLeftStore(screen: Screen, before: DaemonRecord, now: DaemonRecord): void {
  if (before.postgres === now.postgres) return;
  const stores = `The daemon kept its tasks in ${storeName(before.postgres)}, and uses ${storeName(now.postgres)} now.`;
  screen.hint(`${stores} What is there stays there. To go back: ${back(before)}`);
}

function back({ postgres }: DaemonRecord): string {
  const set = postgres === null ? "remove ASYNCAGENTS_STORE" : "set ASYNCAGENTS_STORE to that database";
  return `${set}, then: asyncagents restart`;
}

type Caller = Pick<Invocation, "directory" | "configuration" | "screen">;

/** For commands that use the store of this shell, whatever the daemon uses. */
export function warnOfOwnStore({ directory, configuration, screen }: Caller): void {
  const daemon = findDaemon(directory);
  const own = storeSetting(configuration().store)?.shown ?? null;
  if (daemon === null || daemon.postgres === own) return;
  const stores = `This command uses ${storeName(own)}, and the daemon keeps its tasks in ${storeName(daemon.postgres)}.`;
  screen.hint(`${stores} ${AS_THE_DAEMON}, if you mean that one.`);
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
