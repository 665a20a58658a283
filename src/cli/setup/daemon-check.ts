/** Whether the daemon answers, and if not, what to do: for `doctor`, and for `up`, which finds one that runs. */
import manifest from "../../../package.json" with { type: "json" };
import { createClient } from "../../client/client.ts";
import type { Configuration } from "../../configuration/sections.ts";
import type { DaemonRecord } from "../../daemon/find-daemon.ts";
import { type Finding, ok, warning } from "./finding.ts";
import { silentDaemon } from "./store-checks.ts";

const ANSWER_MS = 3000;

/** `says`: how people see which daemon it is. */
export async function answering(daemon: DaemonRecord, says: string, configuration: Configuration): Promise<Finding> {
  try {
    await createClient({ url: daemon.url }).health(AbortSignal.timeout(ANSWER_MS));
  } catch (thrown) {
    return await silentDaemon(daemon, says, thrown, configuration);
  }
  if (daemon.version === manifest.version) return ok("daemon", says);
  return warning("daemon", `${says}; this command is ${manifest.version}`, "asyncagents down && asyncagents up");
}
