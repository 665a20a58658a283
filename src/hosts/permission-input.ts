/**
 * What people, and rules, are told about the input of a tool that asks for a permission, for hosts whose agents send
 * that input. Invariants: all of the input is shown, but for the middle of long contents of files; of a command,
 * everything counts that is not known to be harmless. Pure.
 */
import { resolve } from "node:path";

/** What people are shown. A permission is never cut, since they allow all of it: about a longer one nobody is asked. */
const PERMISSION_CHARS = 32_000;

/** Fields that hold the contents of files. Their middle is left out if they are long. */
const CONTENT = /^(content|contents|(file|new|old)_?(text|string|str|content|source)|text|patch|diff|unified_diff)$/i;
const CONTENT_CHARS = 2_000;

/** Where it runs: git, npm and others do there what the folder says. */
const PLACE = /^(cwd|((current|base|root)_?)?(work(ing)?_?)?(dir(ectory)?|folder)(_?(path|name))?)$/i;

/** Fields of a command that leave it the same, with such a value: what is said about it, how long it may take. */
const HARMLESS: readonly { field: RegExp; isSo(value: unknown): boolean }[] = [
  { field: /^(description|explanation|justification|reason)$/i, isSo: (value) => typeof value === "string" },
  { field: /^time_?out(_?(ms|millis|sec|secs|seconds))?$/i, isSo: (value) => typeof value === "number" },
  { field: /^((run_?in|is)_?)?background$/i, isSo: (value) => typeof value === "boolean" },
  { field: /^dangerouslyDisableSandbox$/, isSo: (value) => value === false },
];

/**
 * A command, and every other field of its input that may make it another one, or give it more: its place, its rights,
 * its variables, more commands. Unknown fields count. It runs in `directory`, unless it says otherwise.
 */
export function commandSubjects(command: string, others: Record<string, unknown>, directory: string): string[] {
  const isHere = (value: unknown) => typeof value === "string" && resolve(directory, value) === resolve(directory);
  const isHarmless = ([field, value]: [string, unknown]) =>
    (PLACE.test(field) && isHere(value)) || HARMLESS.some((each) => each.field.test(field) && each.isSo(value));
  const counting = Object.entries(others).filter((entry) => !isNothing(entry[1]) && !isHarmless(entry));
  return [...new Set([command, ...counting.flatMap(([field, value]) => eachOf(field, value))])];
}

/**
 * Copilot lists the commands that it found in the command: each is judged as one. A plain `true` would fit a rule for
 * the command of that name.
 */
function eachOf(field: string, value: unknown): string[] {
  if (field === "commands" && Array.isArray(value)) return value.map(textOf);
  return [typeof value === "boolean" || typeof value === "number" ? `${field}: ${value}` : textOf(value)];
}

/** What a tool is about to do, in the agent's words or the host's, and everything that it gets beside what they say. */
export function shownWith(
  about: { title: string | null; name: string; command: string | null },
  input: unknown,
  known: readonly string[] = [],
): string {
  const { title, name, command } = about;
  const isSaid = (text: string) => title?.replaceAll("`", "").trim() === text.trim();
  const words = command === null || isSaid(command) ? (title ?? name) : title ? `${command} (${title})` : command;
  const rest = unsaid(input, known, isSaid);
  return rest === "" ? words : `${words} ${rest}`;
}

/** Why nobody can be asked with such a text; null if people can. */
export function tooLongToShow({ length }: string): string | null {
  if (length <= PERMISSION_CHARS) return null;
  const [is, most] = [length, PERMISSION_CHARS].map((count) => count.toLocaleString("en"));
  return `its text has ${is} characters, and ${most} can be shown`;
}

/** What the input has beside these fields, and is not said already; empty if that is nothing. */
function unsaid(input: unknown, known: readonly string[], isSaid: (text: string) => boolean): string {
  if (isNothing(input)) return "";
  if (typeof input !== "object" || Array.isArray(input)) return isSaid(textOf(input)) ? "" : textOf(input);
  const fields = Object.entries(input as Record<string, unknown>).filter(
    ([field, value]) => !known.includes(field) && !isNothing(value) && !isSaid(textOf(value)),
  );
  return fields.length === 0 ? "" : JSON.stringify(Object.fromEntries(fields), inShort);
}

function inShort(field: string, value: unknown): unknown {
  if (typeof value !== "string" || !CONTENT.test(field) || value.length <= CONTENT_CHARS) return value;
  const half = CONTENT_CHARS / 2;
  return `${value.slice(0, half)} … (${value.length.toLocaleString("en")} characters) … ${value.slice(-half)}`;
}

export function isNothing(value: unknown): boolean {
  return value === undefined || value === null || value === "";
}

export function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
