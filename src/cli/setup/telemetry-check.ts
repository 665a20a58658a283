/** Whether the module that sets up telemetry can be loaded. Does not call it, and says nothing where it is off. */
import { loadSetup } from "../../engine/telemetry/setup-module.ts";
import { messageOf } from "../../model/errors.ts";
import type { CheckContext, Finding } from "./doctor-checks.ts";

const NAME = "telemetry";

export async function checkTelemetry({ configuration }: CheckContext): Promise<Finding[]> {
  const { module } = configuration.telemetry;
  if (module === undefined) return [];
  try {
    await loadSetup(module);
    return [
      {
        name: NAME,
        state: "ok",
        says: `on; ${module} can be loaded, and the log says whether it started`,
        remedy: null,
      },
    ];
  } catch (thrown) {
    const remedy = "Correct it, then: asyncagents restart. Tasks work without it.";
    return [{ name: NAME, state: "problem", says: messageOf(thrown), remedy }];
  }
}
