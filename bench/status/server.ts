/**
 * Child process: our status API on the store of a folder or on PostgreSQL, as the plugin starts it, without an OpenCode
 * around it. It also changes a task on request, since a process's own commits reach its streams first.
 */
import { NO_OTHERS } from "../../src/board/remote-operations.ts";
import { Desk } from "../../src/engine/desk.ts";
import { Overview } from "../../src/engine/watching/overview.ts";
import { startApiServer } from "../../src/http/server.ts";
import type { TaskEvent } from "../../src/model/events.ts";
import { isAlive } from "../../src/process/liveness.ts";
import { type PostgresOptions, postgresStore, sqliteStore } from "../../src/store/open.ts";
import type { Store } from "../../src/store/store.ts";
import { answerCalls, sharedNow } from "../child-process.ts";

/** Longer than a run: a heartbeat must not be mistaken for the expected change. */
const NO_HEARTBEAT_MS = 86_400_000;

let store: Store;

const calls = {
  async start({ directory, postgres }: { directory: string; postgres?: PostgresOptions }): Promise<string> {
    store = await (postgres === undefined ? sqliteStore({ directory }) : postgresStore(postgres));
    const log = { info() {}, error: (message: string, details?: object) => console.error(message, details) };
    const desk = new Desk({ store, isAlive, engines: () => [] });
    const settings = { port: 0, origins: [], heartbeatMs: NO_HEARTBEAT_MS };
    return startApiServer({ overview: new Overview(store), desk, remote: NO_OTHERS, directory, log, ...settings }).url;
  },
  /** Returns the time of its commit. */
  async apply({ id, event }: { id: string; event: TaskEvent }): Promise<number> {
    const { changed } = await store.apply(id, event);
    const at = sharedNow();
    if (!changed) throw new Error(`${event.type} changed nothing of ${id}.`);
    return at;
  },
};

export type StatusServerCalls = typeof calls;

answerCalls(calls);
