/**
 * The daemon: the process that runs the board, runs attempts and tasks on hosts that it starts itself, and serves the
 * status API, the dashboard and MCP. A composition root: it connects the store, the hosts, the rules and the doors.
 * `daemon-lock.ts` ensures that there is one per data folder.
 */
import manifest from "../../package.json" with { type: "json" };
import { Board } from "../board/board.ts";
import { Desk } from "../engine/desk.ts";
import { Runner } from "../engine/runner.ts";
import { Overview } from "../engine/watching/overview.ts";
import { apiSettings } from "../http/api-settings.ts";
import { type ApiServer, startApiServer } from "../http/server.ts";
import { mcpHandler } from "../mcp/mcp-handler.ts";
import { systemClock } from "../process/clock.ts";
import { instanceJudge } from "../process/liveness.ts";
import type { Log } from "../process/log.ts";
import { machineOf } from "../process/machine.ts";
import { DEPTH_VARIABLE } from "../protocol/call-origin.ts";
import { openStore } from "../store/open.ts";
import { storeSetting } from "../store/store-setting.ts";
import { DailyBackup } from "./daily-backup.ts";
import { DailyPrune } from "./daily-prune.ts";
import { executorsOf, hostMakers } from "./host-makers.ts";
import { limitSettings, offersScripted } from "./limit-settings.ts";
import { tokenDoorOptions } from "./token-door-options.ts";

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
  /** Marks what runs as interrupted, stops the hosts, and closes everything. */
  stop(): Promise<void>;
}

export async function startDaemon({ directory, worktrees, environment, log }: DaemonOptions): Promise<Daemon> {
  const postgres = storeSetting(environment);
  const store = await openStore({ directory, environment, log: (line) => log.info(line) });
  const { maxDepth, retention, ...limits } = limitSettings(environment, log);
  // Agents on these hosts are one level deeper than whoever asks for them.
  const makers = hostMakers({ directory, environment: { ...environment, [DEPTH_VARIABLE]: "1" }, log });
  const machine = postgres === null ? "" : machineOf(directory);
  const isAlive = instanceJudge({ machine });
  const runner = new Runner({ store, log, makers, machine, isAlive, ...limits });
  const desk = new Desk({
    store,
    machine,
    isAlive,
    engines: () => runner.engines(),
    open: (host, folder) => runner.open(host, folder),
  });
  const scripted = offersScripted(environment);
  const board = new Board({
    store,
    desk,
    worktrees,
    machine,
    log,
    ...systemClock,
    newId: () => crypto.randomUUID(),
    executors: (folder) => executorsOf(makers, runner, folder),
    released: (folder) => runner.release(folder),
    scriptedForModels: scripted,
    maxDepth,
  });
  let server: ApiServer | null = null;
  // A PostgreSQL database is backed up by those who run it.
  const backup = postgres === null ? new DailyBackup(directory, log) : null;
  const prune = new DailyPrune({ ...systemClock, store, log }, retention);
  const stop = async () => {
    backup?.stop();
    await prune.stop();
    server?.withdraw();
    await board.stop();
    await runner.stop();
    await server?.stop();
    await store.close();
  };
  try {
    const listen = await tokenDoorOptions(store, environment);
    const { port, origins } = apiSettings(environment, log);
    const mcp = mcpHandler({ call: board.call, version: manifest.version, toolset: "extended", scripted, log });
    await board.start();
    server = startApiServer({
      overview: new Overview(store),
      desk,
      directory,
      postgres: postgres?.shown ?? null,
      log,
      port,
      origins,
      daemon: { board: board.call, mcp, maxDepth, assertWorkplace: board.assertWorkplace },
      listen,
    });
    // Not awaited: hosts take seconds to start, and every operation opens what it needs.
    void runner.recover();
    return { url: server.url, stop };
  } catch (thrown) {
    await stop();
    throw thrown;
  }
}
