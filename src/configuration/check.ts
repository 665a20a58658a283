/**
 * Judges what was written in the configuration file: every problem as a sentence that names the setting, what was
 * given and what is allowed, or the nearest known name. Nothing wrong is passed over. Reads no file. Pure.
 */
import { z } from "zod";
import { nearestOf } from "../model/near-words.ts";
import type { Setting } from "./section.ts";
import type { Sections } from "./sections.ts";

export interface Checked {
  /** By section and name, only what was given and is right. */
  values: Map<Setting, unknown>;
  /** What follows the name of the file. */
  problems: string[];
}

const LONGEST_SHOWN = 60;

export function checkFile(sections: Sections, content: unknown): Checked {
  const checked: Checked = { values: new Map(), problems: [] };
  if (!isObject(content)) return { ...checked, problems: ["must be an object, { … }, of sections such as limits"] };
  for (const [name, body] of Object.entries(content)) {
    if (name === "$schema") continue;
    const section = Object.hasOwn(sections, name) ? sections[name] : undefined;
    if (!section) checked.problems.push(unknownSection(sections, name));
    else if (!isObject(body)) checked.problems.push(`${name} is ${shown(body)}: it must be an object, { … }`);
    else checkSettings(section.settings, body, `${name}.`, checked);
  }
  return checked;
}

/** `prefix` is put before the names of settings. */
export function checkSettings(
  settings: Readonly<Record<string, Setting>>,
  body: Readonly<Record<string, unknown>>,
  prefix: string,
  checked: Checked,
): void {
  for (const [name, value] of Object.entries(body)) {
    const setting = Object.hasOwn(settings, name) ? settings[name] : undefined;
    if (!setting) {
      checked.problems.push(unknown(`${prefix}${name}`, Object.keys(settings), name, prefix));
      continue;
    }
    const problems = valueProblems(setting, value, `${prefix}${name}`);
    if (problems.length === 0) checked.values.set(setting, value);
    checked.problems.push(...problems);
  }
}

/** What is wrong with the value of a setting; empty if nothing is. */
export function valueProblems({ kind, shown: masked }: Setting, value: unknown, name: string): string[] {
  const parsed = kind.schema.safeParse(value);
  if (parsed.success) return [];
  const strange = parsed.error.issues.filter((issue) => issue.code === "unrecognized_keys");
  if (strange.length < parsed.error.issues.length) {
    return masked
      ? parsed.error.issues.map(({ path }) => `${[name, ...path].join(".")} is wrong: it must be ${kind.allowed}`)
      : [`${name} is ${shown(value)}: it must be ${kind.allowed}`];
  }
  return strange.flatMap(({ path, keys }) => {
    const prefix = `${[name, ...path].join(".")}.`;
    return keys.map((key) => unknown(`${prefix}${key}`, keysAt(kind.schema, path), key, prefix));
  });
}

function unknownSection(sections: Sections, name: string): string {
  const all = Object.entries(sections).flatMap(([section, { settings }]) =>
    Object.entries(settings).map(([each, { variable = "" }]) => ({ each, variable, full: `${section}.${each}` })),
  );
  const inside =
    all.find(({ each, variable }) => each === name || variable === name) ??
    all.find(({ each, full }) => nearestOf([each, full], name) !== undefined);
  const section = nearestOf(Object.keys(sections), name);
  if (section === undefined && inside) return `${name} is not a section. Did you mean ${inside.full}?`;
  return unknown(name, Object.keys(sections), name, "");
}

function unknown(full: string, names: readonly string[], typed: string, prefix: string): string {
  const near = nearestOf(names, typed);
  const known = near === undefined ? `Known: ${names.join(", ")}.` : `Did you mean ${prefix}${near}?`;
  return `${full} is unknown. ${known}`;
}

/** The names that an object inside of a value may have. */
function keysAt(schema: z.ZodType, path: readonly PropertyKey[]): string[] {
  let found: unknown = schema;
  const unwrapped = () => {
    while (found instanceof z.ZodOptional || found instanceof z.ZodDefault) found = found.unwrap();
  };
  unwrapped();
  for (const step of path) {
    if (found instanceof z.ZodObject) found = found.shape[String(step)];
    else if (found instanceof z.ZodArray) found = found.element;
    else if (found instanceof z.ZodRecord) found = found.valueType;
    unwrapped();
  }
  if (found instanceof z.ZodDiscriminatedUnion) {
    return [...new Set(found.options.flatMap((option) => keysAt(option as z.ZodType, [])))];
  }
  return found instanceof z.ZodObject ? Object.keys(found.shape) : [];
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function shown(value: unknown): string {
  const written = JSON.stringify(value) ?? String(value);
  return written.length > LONGEST_SHOWN ? `${written.slice(0, LONGEST_SHOWN)}…` : written;
}
