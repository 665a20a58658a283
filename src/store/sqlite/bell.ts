/**
 * A file beside the database that a process touches when somebody waits for what it wrote: the others, which watch the
 * file, look at once instead of at their next turn. Only faster, never needed: without it everything arrives all the
 * same, so its failures are ignored.
 */
import { type FSWatcher, utimesSync, watch, writeFileSync } from "node:fs";

export interface Bell {
  ring(): void;
  /** Calls back when any process rings. Returns a function that stops. */
  listen(heard: () => void): () => void;
}

export function bellBeside(databaseFile: string): Bell {
  const file = `${databaseFile}-bell`;
  return {
    ring() {
      const now = new Date();
      try {
        utimesSync(file, now, now);
      } catch {
        // Nobody has listened yet, or the folder is read-only.
      }
    },
    listen(heard) {
      let watcher: FSWatcher | null = null;
      try {
        writeFileSync(file, "", { flag: "a", mode: 0o600 });
        watcher = watch(file, { persistent: false }, heard);
        watcher.on("error", () => watcher?.close());
      } catch {
        // For example, the system has no watches left.
      }
      return () => watcher?.close();
    },
  };
}
