/** What is reported to OpenTelemetry. What the module has to do is in docs/telemetry.md. */
import { isModulePath } from "../../engine/telemetry/setup-module.ts";
import { optional } from "../section.ts";
import { text } from "../value-kinds.ts";

export const telemetry = {
  means: "Traces and measurements for OpenTelemetry. For the daemon, runners, and OpenCode with the plugin.",
  settings: {
    module: optional(text("an absolute path, or one that begins with ~/", isModulePath), {
      means: "A module of yours that sets up the OpenTelemetry SDK; telemetry is on where it is given.",
      variable: "ASYNCAGENTS_TELEMETRY",
      otherwise: "telemetry is off",
    }),
  },
};
