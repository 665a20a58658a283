/**
 * What a section of the configuration file is: settings that belong together, each with its kind of value, its meaning,
 * its default and the environment variable that overrides it. The sections themselves are in `sections`. Pure.
 */
import type { ValueKind } from "./value-kinds.ts";

interface Described {
  /** One sentence, for people: it is in the JSON schema and in the guide. */
  means: string;
  variable?: string;
  /** It may also be given as an option of the plugin in opencode.json, by its name alone. */
  pluginOption?: true;
  /** What may be shown of a value; all of it if absent. A value that is wrong is not shown at all then. */
  shown?(value: unknown): unknown;
}

export interface Setting<T = unknown, Default = T | undefined> extends Described {
  kind: ValueKind<T>;
  default: Default;
  /** What applies without a value, for people. */
  otherwise: string;
}

export interface Section {
  means: string;
  settings: Readonly<Record<string, Setting>>;
  /** What is wrong with values that are right each for itself, as sentences. */
  problems?(values: Readonly<Record<string, unknown>>): string[];
}

/** A setting that always has a value. */
export function setting<T>(kind: ValueKind<T>, described: Described & { default: NoInfer<T> }): Setting<T, T> {
  return { kind, otherwise: defaultText(described.default), ...described };
}

/** A setting that may have none; `otherwise` says what applies then. */
export function optional<T>(
  kind: ValueKind<T>,
  described: Described & { otherwise: string },
): Setting<T, T | undefined> {
  return { kind, default: undefined, ...described };
}

function defaultText(value: unknown): string {
  if (typeof value === "object" && value !== null && Object.keys(value).length === 0) return "none";
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** The value that a setting has once all sources are read. */
export type SettingValue<Each> = Each extends Setting<infer T, infer Default> ? T | Default : never;
