/**
 * Judges what was written in the configuration file: every problem as a sentence that names the setting, what was
 * given and what is allowed, or the nearest known name. Nothing wrong is passed over. Reads no file. Pure.
 */
import { z } from "zod";
import { fieldOf, issueText, valueAt } from "../model/text/issue-text.ts";
import { nearestOf } from "../model/text/near-words.ts";
import type { Setting } from "./section.ts";
import type { Sections } from "./sections.ts";

export interface Checked {
  /** By section and name, only what was given and is right. */
  values: Map<Setting, unknown>;
  /** What follows the name of the file. */
  problems: string[];
}

const LONGEST_SHOWN = 60;
/** An item of a list has to be recognised. */
const LONGEST_ITEM = 200;

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

/** What is wrong with the value of a setting; empty if nothing is. What is wrong inside is named with its place. */
export function valueProblems({ kind, shown: masked }: Setting, value: unknown, name: string): string[] {
  const parsed = kind.schema.safeParse(value);
  if (parsed.success) return [];
  const whole = masked
    ? `${name} is wrong: it must be ${kind.allowed}`
    : `${name} is ${shown(value)}: it must be ${kind.allowed}`;
  const problems = parsed.error.issues.flatMap((issue) => {
    const names = keysAt(kind.schema, issue.path);
    // Of what has no fields, such as a list of words, the words for the whole say more.
    const isPart = [names, ...issue.path.map((_, depth) => keysAt(kind.schema, issue.path.slice(0, depth)))].some(
      (each) => each.length > 0,
    );
    const isWhole = issue.path.length === 0 && issue.code !== "unrecognized_keys" && !isOwnMessage(issue);
    if (isWhole || !isPart) return [whole];
    return partProblems(issue, { value, name, names, isMasked: masked !== undefined });
  });
  return [...new Set(problems)];
}

interface Part {
  /** Of the whole setting. */
  value: unknown;
  name: string;
  /** The fields that the place of the issue may have. */
  names: readonly string[];
  isMasked: boolean;
}

function partProblems(issue: z.core.$ZodIssue, { value, name, names, isMasked }: Part): string[] {
  const place = fieldOf([name, ...issue.path]);
  const [first] = issue.path;
  const isInItem =
    typeof first === "number" && !isMasked && (issue.path.length > 1 || issue.code === "unrecognized_keys");
  const item = isInItem ? ` It is in ${shown(valueAt(value, [first]), LONGEST_ITEM)}.` : "";
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) => `${unknown(`${place}.${key}`, names, key, `${place}.`)}${item}`);
  }
  const given = valueAt(value, issue.path);
  const choices = choicesOf(issue);
  const near = choices === undefined || typeof given !== "string" ? undefined : nearestOf(choices, given);
  const meant = near === undefined ? "" : ` Did you mean ${near}?`;
  const is = given === undefined ? "is missing" : isMasked ? "is wrong" : `is ${shown(given, LONGEST_ITEM)}`;
  return [`${place} ${is}: ${mustOf(issue, choices)}.${meant}${item}`];
}

function mustOf(issue: z.core.$ZodIssue, choices: readonly string[] | undefined): string {
  if (choices !== undefined) return `it must be one of ${choices.join(", ")}`;
  if (issue.code === "invalid_key") return issue.issues[0]?.message ?? issue.message;
  return isOwnMessage(issue) ? issue.message : `it ${issueText(issue)}`;
}

/** Whether the schema says itself what is wrong. */
function isOwnMessage({ code, message }: z.core.$ZodIssue): boolean {
  return code === "invalid_format" || (code === "custom" && message !== "Invalid input");
}

/** The values that are allowed in the place of an issue, if they are a list. */
function choicesOf(issue: z.core.$ZodIssue): string[] | undefined {
  if (issue.code === "invalid_value") return issue.values.map(String);
  if (issue.code === "invalid_union" && "options" in issue && Array.isArray(issue.options))
    return issue.options.map(String);
  return undefined;
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

function shown(value: unknown, longest = LONGEST_SHOWN): string {
  const written = JSON.stringify(value) ?? String(value);
  return written.length > longest ? `${written.slice(0, longest)}…` : written;
}
