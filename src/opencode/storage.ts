/**
 * What exists once per process: the storage folder's store and log. OpenCode runs the plugin once for each directory
 * and may hold two copies of this module, so it hangs on `globalThis`. Closed when the last instance lets go.
 */
import { mkdirSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import type { Log } from "../engine/context.ts";
import type { Store } from "../store/store.ts";
import { fileLog } from "./log-file.ts";

const SHARED = Symbol.for("asyncagents.storage.1");

interface Shared {
  store: Promise<Store>;
  holders: number;
}

type Registry = Map<string, Shared>;

/** `ASYNCAGENTS_HOME`, else the folder that the plugin has always used. */
export function storageDirectory(): string {
  return process.env.ASYNCAGENTS_HOME || join(homedir(), ".opencode", "plugins", "background-agent");
}

export function openLog(directory: string): Log {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
  } catch {
    // The store says so, with what to do; the log has nowhere to say it.
  }
  return fileLog(join(directory, "asyncagents.log"));
}

/** Opens the store, or shares the one that this process has open. A failed opening is tried again at the next call. */
export async function holdStore(directory: string, log: Log): Promise<{ store: Store; release(): Promise<void> }> {
  const root = globalThis as { [SHARED]?: Registry };
  root[SHARED] ??= new Map();
  const registry = root[SHARED];
  const shared = registry.get(directory) ?? { store: openStore(directory, log), holders: 0 };
  registry.set(directory, shared);
  shared.holders++;
  const release = async () => {
    shared.holders--;
    if (shared.holders > 0) return;
    if (registry.get(directory) === shared) registry.delete(directory);
    await (await shared.store).close();
  };
  try {
    return { store: await shared.store, release };
  } catch (thrown) {
    if (registry.get(directory) === shared) registry.delete(directory);
    throw thrown;
  }
}

async function openStore(directory: string, log: Log): Promise<Store> {
  const { sqliteStore } = await import("../store/open.ts");
  return sqliteStore({ directory, log: (line) => log.info(line) });
}
