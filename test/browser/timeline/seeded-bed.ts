/**
 * The status API and its page over a real store whose tasks a test writes itself, at any time in the past: nothing runs
 * them. For what needs hours of history, or many calls.
 */
import { afterAll, beforeAll } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { remoteOperations } from "../../../src/board/remote-operations.ts";
import { Desk } from "../../../src/engine/desk.ts";
import { Overview } from "../../../src/engine/watching/overview.ts";
import { startApiServer } from "../../../src/http/server.ts";
import { systemClock } from "../../../src/process/clock.ts";
import { isAlive } from "../../../src/process/liveness.ts";
import { makeId } from "../../../src/process/make-id.ts";
import { sqliteStore } from "../../../src/store/open.ts";
import type { Store } from "../../../src/store/store.ts";

export interface Seeded {
  store: Store;
  url: string;
  stop(): Promise<void>;
}

export async function startSeeded(): Promise<Seeded> {
  const directory = mkdtempSync(join(tmpdir(), "asyncagents-seeded-"));
  const store = await sqliteStore({ directory });
  const quiet = { info: () => {}, error: () => {} };
  const desk = new Desk({ store, engines: () => [], isAlive });
  const server = startApiServer({
    overview: new Overview(store),
    desk,
    remote: remoteOperations({
      ...systemClock,
      store,
      log: quiet,
      instances: () => [],
      newId: makeId,
      isAlive,
      machine: "",
    }),
    directory,
    log: quiet,
    port: 0,
    origins: [],
  });
  return {
    store,
    url: server.url,
    async stop() {
      await server.stop();
      await store.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** For a test file, to be called at its top, below its Chromium. */
export function seededBed(fill: (store: Store) => Promise<void>): { readonly url: string; readonly store: Store } {
  let seeded: Seeded | null = null;
  const started = () => {
    if (seeded === null) throw new Error("The server has not started.");
    return seeded;
  };
  beforeAll(async () => {
    seeded = await startSeeded();
    await fill(seeded.store);
  });
  afterAll(() => seeded?.stop());
  return {
    get url() {
      return started().url;
    },
    get store() {
      return started().store;
    },
  };
}
