/**
 * What exists once per process: the store of the data folder, the supervisor, the status API, and what performs calls
 * of other processes. OpenCode runs the plugin once per directory and may hold two copies of this module, so it is kept
 * on `globalThis`. Closed when the last instance releases it.
 */

import type { TaskWorktrees } from "../board/worktrees/task-worktrees.ts";
import { worktreesFolder } from "../configuration/sections/worktrees.ts";
import type { Configuration } from "../configuration/sections.ts";
import { Desk } from "../engine/desk.ts";
import type { Engine } from "../engine/engine.ts";
import type { Notifier } from "../engine/notifications/notifier.ts";
import { CallPerformer } from "../engine/remote/call-performer.ts";
import { Slots } from "../engine/runs/slots.ts";
import { Supervisor } from "../engine/supervisor.ts";
import type { Telemetry } from "../engine/telemetry/telemetry.ts";
import type { TranscriptKeeper } from "../engine/transcripts/transcript-keeper.ts";
import type { ApiServer } from "../http/server.ts";
import { messageOf } from "../model/errors.ts";
import { systemClock } from "../process/clock.ts";
import { settlesWithin } from "../process/deadline.ts";
import { instanceJudge } from "../process/liveness.ts";
import type { Log } from "../process/log.ts";
import { machineOf } from "../process/machine.ts";
import { makeId } from "../process/make-id.ts";
import type { Instance, Store } from "../store/store.ts";
import { storeSetting } from "../store/store-setting.ts";
import { atProcessEnd } from "./process-end.ts";

/** How long a recovery that is under way may take when the last instance leaves. */
const RECOVERY_MS = 3_000;
const SHARED = Symbol.for("asyncagents.storage.2");

interface Shared {
  opened: Promise<Opened>;
  holders: number;
  /** The engines of the instances that hold it: one of them executes what people request over HTTP. */
  engines: Set<Engine>;
  /** As configured by the first instance. */
  slots: Slots;
}

/** Where this process runs, and its view of others. */
interface Place {
  /** Empty if the store is used by this machine only. */
  machine: string;
  isAlive(instance: Instance): boolean;
}

interface Opened extends Place {
  store: Store;
  supervisor: Supervisor;
  /** Loaded when somebody needs it. */
  taskWorktrees(): Promise<TaskWorktrees>;
  /** Keeps what ended runs show; null if the store is used by this machine only. */
  keeper: TranscriptKeeper | null;
  /** Reports what runs did; null if telemetry is off. */
  telemetry: Telemetry | null;
  close(): Promise<void>;
}

type Registry = Map<string, Shared>;

interface HeldStorage extends Omit<Opened, "close"> {
  slots: Slots;
  add(engine: Engine): void;
  release(engine: Engine | null): Promise<void>;
}

/** Opens what the process shares, or joins it. A failed attempt to open is retried at the next call. */
export async function holdStorage(directory: string, log: Log, configuration: Configuration): Promise<HeldStorage> {
  const root = globalThis as { [SHARED]?: Registry };
  root[SHARED] ??= new Map();
  const registry = root[SHARED];
  const shared = registry.get(directory) ?? openShared(directory, log, configuration);
  registry.set(directory, shared);
  shared.holders++;
  const release = async (engine: Engine | null) => {
    if (engine) shared.engines.delete(engine);
    shared.holders--;
    if (shared.holders > 0) return;
    if (registry.get(directory) === shared) registry.delete(directory);
    await (await shared.opened).close();
  };
  try {
    const { close: _, ...opened } = await shared.opened;
    const add = (engine: Engine) => shared.engines.add(engine);
    return { ...opened, slots: shared.slots, release, add };
  } catch (thrown) {
    if (registry.get(directory) === shared) registry.delete(directory);
    throw thrown;
  }
}

function openShared(directory: string, log: Log, configuration: Configuration): Shared {
  const engines = new Set<Engine>();
  const open = async (): Promise<Opened> => {
    const { openStore } = await import("../store/open.ts");
    const stored = await openStore({ directory, ...configuration.store, log: (line) => log.info(line) });
    const telemetry = await telemetryOn(stored, log, configuration);
    const store = telemetry?.store ?? stored;
    const machine = storeSetting(configuration.store) === null ? "" : machineOf(directory);
    const keeper = machine === "" ? null : await keeperOn(store, log);
    const place = { machine, isAlive: instanceJudge({ machine }) };
    const supervisor = new Supervisor({ store, log, ...systemClock, ...place });
    const performer = performCalls(store, engines, place, log);
    const notifier = await startNotifier(store, log, configuration);
    const worktrees = worktreesFolder(directory, configuration.worktrees);
    const taskWorktrees = once(async () => {
      const { TaskWorktrees } = await import("../board/worktrees/task-worktrees.ts");
      return new TaskWorktrees({ ...systemClock, store, log, worktrees, machine });
    });
    const parts = { log, configuration, notifier, taskWorktrees };
    const server = await startApi(store, directory, engines, place, parts);
    return {
      ...place,
      store,
      supervisor,
      taskWorktrees,
      keeper,
      telemetry,
      async close() {
        supervisor.stop();
        await performer.stop();
        await notifier?.stop();
        // A recovery that is under way writes; one that hangs must not keep OpenCode from ending.
        await settlesWithin(supervisor.idle(), { timeout: RECOVERY_MS });
        await server?.stop();
        await keeper?.idle();
        await telemetry?.stop();
        await store.close();
      },
    };
  };
  return { opened: open(), holders: 0, engines, slots: new Slots(configuration.limits.maxConcurrent ?? null) };
}

/** Loaded only where people are told something. */
async function startNotifier(store: Store, log: Log, configuration: Configuration): Promise<Notifier | null> {
  const { notifications: settings, listen } = configuration;
  if (Object.keys(settings.channels).length === 0) return null;
  const { openNotifier } = await import("../engine/notifications/open-notifier.ts");
  const telling = { settings, publicUrls: listen.publicUrls, environment: process.env };
  const notifier = openNotifier({ ...systemClock, newId: makeId, store, log, ...telling });
  await notifier.start();
  return notifier;
}

/** Loaded only where it is on. */
async function telemetryOn(store: Store, log: Log, { telemetry }: Configuration): Promise<Telemetry | null> {
  if (telemetry.module === undefined) return null;
  const { startTelemetry } = await import("../engine/telemetry/start-telemetry.ts");
  const started = await startTelemetry(telemetry.module, { ...systemClock, newId: makeId, store, log });
  return started.telemetry;
}

/** Loaded only where it is needed. */
async function keeperOn(store: Store, log: Log): Promise<TranscriptKeeper> {
  const { TranscriptKeeper } = await import("../engine/transcripts/transcript-keeper.ts");
  return new TranscriptKeeper({ ...systemClock, store, log });
}

/** What other processes ask of this one. The code for it is loaded with the first call. */
function performCalls(store: Store, engines: ReadonlySet<Engine>, place: Place, log: Log): CallPerformer {
  const desk = deskOf(store, engines, place);
  const perform = async (operation: string, input: unknown) => {
    const [{ callPerformance }, { Overview }] = await Promise.all([
      import("../http/handlers/perform-call.ts"),
      import("../engine/watching/overview.ts"),
    ]);
    const noBoard = { board: null, assertWorkplace: null, assertRepo: null, maxDepth: undefined };
    return callPerformance({ overview: new Overview(store), desk, ...noBoard })(operation, input);
  };
  const performer = new CallPerformer({ ...systemClock, store, log, perform, instances: () => idsOf(engines) });
  performer.start();
  return performer;
}

interface ApiParts {
  log: Log;
  configuration: Configuration;
  notifier: Notifier | null;
  taskWorktrees(): Promise<TaskWorktrees>;
}

/** Everything else works without it: a failure is only logged. */
async function startApi(
  store: Store,
  directory: string,
  engines: ReadonlySet<Engine>,
  place: Place,
  { log, configuration, notifier, taskWorktrees }: ApiParts,
): Promise<Pick<ApiServer, "stop"> | null> {
  const settings = configuration.api;
  if (!settings.enabled) return null;
  try {
    const [{ startApiServer }, { Overview }, { remoteOperations }] = await Promise.all([
      import("../http/server.ts"),
      import("../engine/watching/overview.ts"),
      import("../board/remote-operations.ts"),
    ]);
    const own = { newId: makeId, ...place, instances: () => idsOf(engines) };
    const remote = remoteOperations({ ...systemClock, store, log, ...own });
    const overview = new Overview(store);
    const desk = deskOf(store, engines, place);
    const postgres = storeSetting(configuration.store)?.shown ?? null;
    const shown = { notifier, taskWorktrees: await taskWorktrees() };
    const server = startApiServer({ overview, desk, remote, directory, postgres, log, ...shown, ...settings });
    const forget = atProcessEnd(server);
    return {
      async stop() {
        forget();
        await server.stop();
      },
    };
  } catch (thrown) {
    log.error("the status API did not start; tasks work without it", { error: messageOf(thrown) });
    return null;
  }
}

function deskOf(store: Store, engines: ReadonlySet<Engine>, place: Place): Desk {
  return new Desk({ store, ...place, engines: () => [...engines] });
}

function idsOf(engines: ReadonlySet<Engine>): string[] {
  return [...engines].map(({ instance }) => instance.id);
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | null = null;
  return () => {
    made ??= make();
    return made;
  };
}
