/**
 * The daemon: one process that has the board, runs attempts and tasks on hosts that it starts itself, and serves the status
 * API, the dashboard and MCP. The composition root of the command line: here store, hosts, rules and doors meet. That there is
 * only one for a data folder is the lock's matter (`lock.ts`).
 */
import manifest from "../../package.json" with { type: "json" };
import { Board } from "../board/board.ts";
import { Desk } from "../engine/desk.ts";
import { Runner } from "../engine/runner.ts";
import { Overview } from "../engine/watching/overview.ts";
import { apiSettings } from "../http/api-settings.ts";
import { type ApiServer, startApiServer } from "../http/server.ts";
import { mcpHandler } from "../mcp/mcp-handler.ts";
import { isInstanceAlive } from "../process/liveness.ts";
import type { Log } from "../process/log.ts";
import { DEPTH_VARIABLE } from "../protocol/call-origin.ts";
import { sqliteStore } from "../store/open.ts";
import { DailyBackup } from "./daily-backup.ts";
import { executorsOf, hostMakers } from "./hosts.ts";
import { limitSettings, offersScripted } from "./limit-settings.ts";

export interface DaemonOptions {
  /** The data folder. */
  directory: string;
  /** The base folder of all worktrees, an absolute path. */
  worktrees: string;
  environment: Record<string, string | undefined>;
  log: Log;
}

export interface Daemon {
  readonly url: string;
  /** Ends what runs as interrupted, stops the hosts, and lets go of everything. */
  stop(): Promise<void>;
}

export async function startDaemon({ directory, worktrees, environment, log }: DaemonOptions): Promise<Daemon> {
  const store = await sqliteStore({ directory, log: (line) => log.info(line) });
  const { maxDepth, ...limits } = limitSettings(environment, log);
  // What these hosts run is one deeper than who asks for it from outside of our agents.
  const makers = hostMakers({ directory, environment: { ...environment, [DEPTH_VARIABLE]: "1" }, log });
  const runner = new Runner({ store, log, makers, ...limits });
  const desk = new Desk({
    store,
    isAlive: isInstanceAlive,
    engines: () => runner.engines(),
    open: (host, folder) => runner.open(host, folder),
  });
  const scripted = offersScripted(environment);
  const board = new Board({
    ...{ store, desk, worktrees, log, now: Date.now, newId: () => crypto.randomUUID() },
    executors: (folder) => executorsOf(makers, runner, folder),
    released: (folder) => runner.release(folder),
    scriptedForModels: scripted,
    maxDepth,
  });
  let server: ApiServer | null = null;
  const backup = new DailyBackup(directory, log);
  const stop = async () => {
    backup.stop();
    server?.withdraw();
    await board.stop();
    await runner.stop();
    await server?.stop();
    await store.close();
  };
  try {
    const { port, origins } = apiSettings(environment, log);
    const mcp = mcpHandler({ call: board.call, version: manifest.version, toolset: "extended", scripted, log });
    await board.start();
    server = startApiServer({
      ...{ overview: new Overview(store), desk, directory, log, port, origins },
      daemon: { board: board.call, mcp, maxDepth },
    });
    // Nothing waits for it: hosts take seconds to start, and every operation opens what it needs.
    void runner.recover();
    return { url: server.url, stop };
  } catch (thrown) {
    await stop();
    throw thrown;
  }
}
