/**
 * A claimer for one engine: begins the runs that are bound to its host and folder, such as those that waited for other
 * tasks. It has no limit of its own: runs wait for a slot once they are the engine's.
 */
import type { EngineContext } from "../context.ts";
import type { Engine } from "../engine.ts";
import { Claimer, type ClaimerContext } from "./claimer.ts";
import { assertNotMoved, realFolder } from "./moved-folder.ts";

/** `onEntries`: what the engine hears of the feed. */
export function folderClaimer(context: EngineContext, engine: Engine, onEntries: ClaimerContext["onEntries"]): Claimer {
  const { store, log, now, monotonic, after, supervisor, settings, instance } = context;
  const { id, host, directory, machine } = instance;
  // The host may have been opened through a link, which is where it works from then on.
  const opened = realFolder(directory);
  return new Claimer({
    store,
    log,
    now,
    monotonic,
    after,
    offer: { id, name: directory, hosts: [], labels: [], machine, max: Number.MAX_SAFE_INTEGER, limits: {} },
    engines: () => [engine],
    open: async () => engine,
    async folderOf() {
      assertNotMoved(directory, opened);
      return { directory, clone: null };
    },
    async folders() {
      const waiting = await store.queue.folders();
      return waiting.filter((each) => each.host === host && each.directory === directory && each.machine === machine);
    },
    onEntries,
    onEnded: (listener) => engine.onEnded(listener),
    mayAct: () => supervisor.lease(id)?.isHeld !== false,
    pollMs: settings.pollMs,
  });
}
