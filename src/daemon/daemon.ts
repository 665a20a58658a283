/**
 * The daemon: the process that runs the board, runs attempts and tasks on hosts that it starts itself, and serves the
 * status API, the dashboard and MCP. A composition root: it connects the store, the hosts, the rules and the doors.
 * `daemon-lock.ts` ensures that there is one per data folder.
 */
import manifest from "../../package.json" with { type: "json" };
import { Board } from "../board/board.ts";
import type { BoardContext } from "../board/board-context.ts";
import { remoteOperations } from "../board/remote-operations.ts";
import { TaskWorktrees } from "../board/worktrees/task-worktrees.ts";
import { worktreesFolder } from "../configuration/sections/worktrees.ts";
import type { Configuration } from "../configuration/sections.ts";
import { DAEMON_HOST, Desk, type DeskContext } from "../engine/desk.ts";
import type { Notifier } from "../engine/notifications/notifier.ts";
import { openNotifier } from "../engine/notifications/open-notifier.ts";
import { CallPerformer } from "../engine/remote/call-performer.ts";
import { Runner } from "../engine/runner.ts";
import { Overview } from "../engine/watching/overview.ts";
import { callPerformance } from "../http/handlers/perform-call.ts";
import { type ApiServer, startApiServer } from "../http/server.ts";
import { mcpHandler } from "../mcp/mcp-handler.ts";
import { type Clock, systemClock } from "../process/clock.ts";
import { instanceJudge, ownIdentity } from "../process/liveness.ts";
import type { Log } from "../process/log.ts";
import { machineOf } from "../process/machine.ts";
import { makeId } from "../process/make-id.ts";
import { DEPTH_VARIABLE } from "../protocol/call-origin.ts";
import type { Instance, Store } from "../store/store.ts";
import { storeSetting } from "../store/store-setting.ts";
import { executorsOf, hostMakers } from "./host-makers.ts";
import { keepHouse } from "./housekeeping.ts";
import { limitSettings } from "./limit-settings.ts";
import { openReportingStore } from "./reporting-store.ts";
import { tokenDoorOptions } from "./token-door-options.ts";

export interface DaemonOptions {
  /** The data folder. */
  directory: string;
  configuration: Configuration;
  /** For the programs that it starts. */
  environment: Record<string, string | undefined>;
  log: Log;
}

export interface Daemon {
  readonly url: string;
  /** Marks what runs as interrupted, stops the hosts, and closes everything. */
  stop(): Promise<void>;
}

export async function startDaemon({ directory, configuration, environment, log }: DaemonOptions): Promise<Daemon> {
  const postgres = storeSetting(configuration.store);
  const { store, telemetry, problem } = await openReportingStore(directory, configuration, log);
  const { module } = configuration.telemetry;
  const { maxDepth, retention, ...limits } = limitSettings(configuration);
  // Agents on these hosts are one level deeper than whoever asks for them.
  const makers = hostMakers({ directory, configuration, environment: { ...environment, [DEPTH_VARIABLE]: "1" }, log });
  const machine = postgres === null ? "" : machineOf(directory);
  const isAlive = instanceJudge({ machine });
  const runner = new Runner({ store, log, makers, machine, isAlive, telemetry, ...limits });
  const desk = deskOf({ store, machine, isAlive, ...limits }, runner, makers);
  const instance = daemonInstance(directory, machine);
  const instances = () => [instance.id, ...runner.engines().map((engine) => engine.instance.id)];
  const remote = remoteOperations({ ...systemClock, store, log, newId: makeId, machine, isAlive, instances });
  const { scripted } = configuration.mcp;
  const worktrees = worktreesFolder(directory, configuration.worktrees);
  const executors = (folder: string) => executorsOf(makers, runner, folder);
  const asked = { executors, folders: runner, scriptedForModels: scripted, maxDepth };
  const board = boardOf({ store, desk, remote, worktrees, machine, log, ...asked });
  const overview = new Overview(store);
  const daemon = { board: board.call, maxDepth, assertWorkplace: board.assertWorkplace, assertRepo: board.assertRepo };
  const taskWorktrees = new TaskWorktrees({ ...systemClock, store, log, machine, worktrees });
  const perform = callPerformance({ overview, desk, taskWorktrees, ...daemon });
  const performer = new CallPerformer({ store, log, ...systemClock, instances, perform });
  const notifier = notifierOf({ directory, configuration, environment, log }, store);
  let server: ApiServer | null = null;
  const hasBackups = postgres === null;
  const stopHousekeeping = keepHouse({ store, log, directory, hasBackups, retention, worktrees, folders: runner });
  const stop = async () => {
    await stopHousekeeping();
    await notifier.stop();
    server?.withdraw();
    await performer.stop();
    await board.stop();
    await runner.stop();
    await server?.stop();
    await store.close();
  };
  try {
    const listen = await tokenDoorOptions(store, configuration.listen);
    const mcp = mcpHandler({ call: board.call, version: manifest.version, toolset: "extended", scripted, log });
    await board.start();
    performer.start();
    await runner.register(instance);
    server = startApiServer({
      overview,
      desk,
      remote,
      directory,
      postgres: postgres?.shown ?? null,
      telemetry: module === undefined ? null : { module, problem },
      log,
      ...configuration.api,
      daemon: { ...daemon, mcp },
      notifier,
      taskWorktrees,
      listen,
    });
    await notifier.start();
    // Not awaited: hosts take seconds to start, and every operation opens what it needs.
    void runner.recover();
    return { url: server.url, stop };
  } catch (thrown) {
    await stop();
    throw thrown;
  }
}

function boardOf(context: Omit<BoardContext, keyof Clock | "newId">): Board {
  return new Board({ ...context, ...systemClock, newId: () => crypto.randomUUID() });
}

function deskOf(
  context: Pick<DeskContext, "store" | "machine" | "isAlive" | "maxQueued" | "budgets" | "limits">,
  runner: Runner,
  makers: ReturnType<typeof hostMakers>,
): Desk {
  return new Desk({
    ...context,
    engines: () => runner.engines(),
    open: (host, folder) => runner.open(host, folder),
    attach: async (session) => (await makers.find(({ kind }) => kind === session.host)?.attach?.(session)) ?? null,
  });
}

function notifierOf({ configuration, environment, log }: DaemonOptions, store: Store): Notifier {
  const { notifications: settings, listen } = configuration;
  const context = { ...systemClock, newId: makeId, store, log };
  return openNotifier({ ...context, settings, publicUrls: listen.publicUrls, environment });
}

/** For the daemon itself, whether or not it has engines: other processes send it calls for the board. */
function daemonInstance(directory: string, machine: string): Instance {
  const place = { host: DAEMON_HOST, directory, machine, startedAt: systemClock.now() };
  return { id: makeId("ins"), ...ownIdentity(), beat: 0, leaseLeft: null, ...place };
}
