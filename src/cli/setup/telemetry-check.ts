/**
 * Whether the module that sets up telemetry can be loaded, and whether the daemon reports with it. Does not call it,
 * and says nothing where it is off.
 */
import { findDaemon } from "../../daemon/find-daemon.ts";
import { loadSetup } from "../../engine/telemetry/setup-module.ts";
import { messageOf } from "../../model/errors.ts";
import type { CheckContext, Finding } from "./finding.ts";

const CORRECT = "Correct it, then: asyncagents restart. Tasks work without it.";

export async function checkTelemetry({ configuration, directory }: CheckContext): Promise<Finding[]> {
  const { module } = configuration.telemetry;
  if (module === undefined) return [];
  try {
    await loadSetup(module);
  } catch (thrown) {
    return found("problem", messageOf(thrown), CORRECT);
  }
  const daemon = findDaemon(directory);
  if (daemon === null) return found("ok", `on; ${module} can be loaded`);
  const { telemetry } = daemon;
  if (telemetry?.problem) return found("problem", telemetry.problem, CORRECT);
  return telemetry?.module === module
    ? found("ok", `on; the daemon reports with ${module}`)
    : found("warning", `the daemon was started without ${module}`, "asyncagents restart");
}

function found(state: Finding["state"], says: string, remedy: string | null = null): Finding[] {
  return [{ name: "telemetry", state, says, remedy }];
}
