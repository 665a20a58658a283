/**
 * Starts telemetry where it is on. Loads nothing where it is off, which is the default. A module that fails is logged,
 * and never keeps a process from starting: tasks matter more than what is known about them.
 */
import { AsyncAgentsError, messageOf } from "../../model/errors.ts";
import { within } from "../../process/deadline.ts";
import type { OpenTelemetryContext } from "./open-telemetry.ts";
import type { Telemetry } from "./telemetry.ts";

/** A module that sets something up, and does not wait for a server. */
const SET_UP_MS = 10_000;

export interface StartedTelemetry {
  /** Null if it is off, or the module fails. */
  telemetry: Telemetry | null;
  /** Why nothing is reported although it is on, for people, in one line; null otherwise. */
  problem: string | null;
}

export async function startTelemetry(
  module: string | undefined,
  context: OpenTelemetryContext,
): Promise<StartedTelemetry> {
  if (module === undefined) return { telemetry: null, problem: null };
  try {
    const { openTelemetry } = await import("./open-telemetry.ts");
    const tooLong = () =>
      new AsyncAgentsError("configuration_invalid", `The telemetry module took longer than ${SET_UP_MS / 1000} s.`);
    return await within(openTelemetry(module, context), { timeout: SET_UP_MS, clock: context }, tooLong);
  } catch (thrown) {
    const error = messageOf(thrown);
    context.log.error("telemetry did not start; tasks work without it", { module, error });
    const problem = AsyncAgentsError.isInstance(thrown) ? error : `The telemetry module ${module} failed: ${error}.`;
    return { telemetry: null, problem: problem.replaceAll(/\s+/g, " ") };
  }
}
