/**
 * The status API's settings from the environment. An invalid value is logged and the default is used: it must not
 * keep the surrounding program from starting.
 */
import type { Log } from "../process/log.ts";

const DEFAULT_PORT = 5165;

interface ApiSettings {
  enabled: boolean;
  /** The first port to try; 0 for any. */
  port: number;
  origins: string[];
}

export function apiSettings(environment: Record<string, string | undefined>, log: Log): ApiSettings {
  const {
    ASYNCAGENTS_API_ENABLED: enabled,
    ASYNCAGENTS_API_PORT: port,
    ASYNCAGENTS_API_ORIGINS: origins,
  } = environment;
  return { enabled: enabled !== "false", port: portOf(port, log), origins: listOf(origins) };
}

function portOf(text: string | undefined, log: Log): number {
  if (text === undefined || text === "") return DEFAULT_PORT;
  const port = /^\d{1,5}$/.test(text) ? Number(text) : -1;
  if (port >= 0 && port <= 65_535) return port;
  log.error("ASYNCAGENTS_API_PORT is not a port; the default is used", {
    given: text.slice(0, 50),
    port: DEFAULT_PORT,
  });
  return DEFAULT_PORT;
}

function listOf(text = ""): string[] {
  return text
    .split(",")
    .map((origin) => origin.trim().replace(/\/+$/, ""))
    .filter((origin) => origin !== "");
}
