/**
 * The module of the user that sets up OpenTelemetry's SDK: which one, where it sends, and how much, is not ours to
 * decide. Its default export is called once, and may return what sends the rest at the end. Only loads and checks it.
 */
import { statSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import { pathToFileURL } from "node:url";
import { AsyncAgentsError, messageOf } from "../../model/errors.ts";
import type { IdGenerator } from "./trace-ids.ts";

/** What the default export gets. */
export interface TelemetrySetup {
  /** For the SDK's option of that name: without it, tasks of tasks are not linked to their parents. */
  idGenerator: IdGenerator;
}

export type SetUp = (setup: TelemetrySetup) => unknown;

export function isModulePath(text: string): boolean {
  return isAbsolute(text) || text.startsWith("~/");
}

/** Its default export. Rejects with what is wrong, and what to do. */
export async function loadSetup(module: string): Promise<SetUp> {
  const path = module.startsWith("~/") ? join(homedir(), module.slice(2)) : module;
  const loaded = await load(path);
  const setUp = typeof loaded === "object" && loaded !== null && "default" in loaded ? loaded.default : null;
  if (isFunction(setUp)) return setUp;
  throw invalid(`${path} has no default export that is a function; docs/telemetry.md has an example.`);
}

async function load(path: string): Promise<unknown> {
  // The error of the import would name this file.
  if (!statSync(path, { throwIfNoEntry: false })?.isFile()) {
    throw invalid(`${path} is not a file: correct telemetry.module in asyncagents.json, or ASYNCAGENTS_TELEMETRY.`);
  }
  try {
    return await import(pathToFileURL(path).href);
  } catch (thrown) {
    throw invalid(`${path} cannot be loaded: ${messageOf(thrown)}. Are its packages installed beside it?`);
  }
}

function isFunction(value: unknown): value is SetUp {
  return typeof value === "function";
}

function invalid(message: string): AsyncAgentsError {
  return new AsyncAgentsError("configuration_invalid", `The telemetry module ${message}`);
}
