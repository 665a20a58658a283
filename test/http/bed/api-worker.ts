/**
 * A status API in a Worker, where OpenCode's TUI runs its plugins: receives `{ folder, port }`, reports its actual
 * port, and ends with the Worker.
 */
import { NO_OTHERS } from "../../../src/board/remote-operations.ts";
import { Desk } from "../../../src/engine/desk.ts";
import { Overview } from "../../../src/engine/watching/overview.ts";
import { startApiServer } from "../../../src/http/server.ts";
import { isAlive } from "../../../src/process/liveness.ts";
import { sqliteStore } from "../../../src/store/open.ts";

declare const self: Worker;

self.onmessage = async ({ data: { folder, port } }: MessageEvent<{ folder: string; port: number }>) => {
  const store = await sqliteStore({ directory: folder });
  const desk = new Desk({ store, isAlive, engines: () => [] });
  const log = { info: () => {}, error: () => {} };
  const overview = new Overview(store);
  const server = startApiServer({ overview, desk, remote: NO_OTHERS, directory: folder, log, port, origins: [] });
  self.onmessage = async () => {
    await server.stop();
    await store.close();
    self.postMessage("stopped");
  };
  self.postMessage(server.port);
};
