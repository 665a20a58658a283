/** Opens the store of a process that starts hosts itself, with telemetry on it where that is on. */
import type { Configuration } from "../configuration/sections.ts";
import { type StartedTelemetry, startTelemetry } from "../engine/telemetry/start-telemetry.ts";
import { systemClock } from "../process/clock.ts";
import type { Log } from "../process/log.ts";
import { makeId } from "../process/make-id.ts";
import { openStore } from "../store/open.ts";
import type { Store } from "../store/store.ts";

interface ReportingStore extends StartedTelemetry {
  /** Closing it also sends what telemetry is left. */
  store: Store;
}

export async function openReportingStore(
  directory: string,
  configuration: Configuration,
  log: Log,
): Promise<ReportingStore> {
  const plain = await openStore({ directory, ...configuration.store, log: (line) => log.info(line) });
  const context = { ...systemClock, newId: makeId, store: plain, log };
  const { telemetry, problem } = await startTelemetry(configuration.telemetry.module, context);
  if (telemetry === null) return { store: plain, telemetry, problem };
  const close = () => telemetry.stop().finally(() => plain.close());
  return { store: { ...telemetry.store, close }, telemetry, problem };
}
