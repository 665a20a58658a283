/**
 * What people, and rules, are told about a permission that an agent asks for. A title is the agent's own words, so
 * everything that its tool gets is shown beside it, and nothing is cut but the contents of files. Pure.
 */
import { resolve } from "node:path";
import { type AcpPermission, recordOf } from "./wire.ts";

type ToolCall = AcpPermission["toolCall"];

/** Fields that hold the contents of files. Their middle is left out if they are long. */
const CONTENT = /^(content|contents|(file|new|old)_?(text|string|str|content)|text|patch|diff|unified_diff)$/i;
const CONTENT_CHARS = 2_000;
/** Fields by which a command gets more than the command itself says. */
const RIGHTS = /permission|sandbox|escalat/i;
/** Fields that make the same command another one: its variables, its shell, what it reads. */
const MEANS = /^(env(ironment)?(_?var(iable)?s)?|variables|shell|std_?in)$/i;
/** Where it runs: git, npm and others do there what the folder says. */
const PLACE = /^(cwd|((current|base|root)_?)?(work(ing)?_?)?(dir(ectory)?|folder)(_?(path|name))?)$/i;

export function permissionText({ toolCall }: AcpPermission, name: string): string {
  const { title, rawInput } = toolCall;
  const command = commandOf(rawInput);
  const isSaid = (text: string) => title?.replaceAll("`", "").trim() === text.trim();
  const about = command === null || isSaid(command) ? (title ?? name) : title ? `${command} (${title})` : command;
  const rest = unsaid(rawInput, command === null ? [] : COMMAND, isSaid);
  const text = rest === "" ? about : `${about} ${rest}`;
  const paths = pathsOf(toolCall).filter((path) => !text.includes(JSON.stringify(path)) && !isSaid(path));
  return paths.length === 0 ? text : `${text} (changes ${paths.join(", ")})`;
}

/**
 * What the tool wants to run, change or open: all of it, since a rule that allows must fit everything. A command runs
 * in `directory`, unless it says otherwise. Without an input, the title is all that is known.
 */
export function permissionSubjects({ toolCall }: AcpPermission, directory: string): string[] {
  const input = recordOf(toolCall.rawInput);
  const command = commandOf(input);
  const fields = Array.isArray(input) ? [] : Object.entries(input).filter(([, value]) => !isNothing(value));
  if (toolCall.kind === "execute" && command !== null) {
    const isElsewhere = (value: unknown) => typeof value !== "string" || resolve(directory, value) !== directory;
    const counts = ([field, value]: [string, unknown]) =>
      RIGHTS.test(field) || MEANS.test(field) || (PLACE.test(field) && isElsewhere(value));
    return [command, ...fields.filter(counts).map(([, value]) => textOf(value))];
  }
  const isPlain = typeof toolCall.rawInput !== "object" || Array.isArray(toolCall.rawInput);
  const plain = isPlain && !isNothing(toolCall.rawInput) ? [textOf(toolCall.rawInput)] : [];
  const subjects = [...plain, ...fields.map(([, value]) => textOf(value)), ...pathsOf(toolCall)];
  return subjects.length > 0 ? subjects : [toolCall.title ?? ""];
}

const COMMAND: readonly string[] = ["command", "args"];

/** Some agents give a command word by word, or its arguments apart. Null if there is none. */
function commandOf(input: unknown): string | null {
  const { command, args } = recordOf(input);
  if (typeof command !== "string" && !Array.isArray(command)) return null;
  const words = [command, args ?? []].flat().map(textOf);
  return words.join(" ").trim() || null;
}

/** What the input has beside these fields, and is not said already; empty if that is nothing. */
function unsaid(input: unknown, known: readonly string[], isSaid: (text: string) => boolean): string {
  if (isNothing(input)) return "";
  if (typeof input !== "object" || Array.isArray(input)) return isSaid(textOf(input)) ? "" : textOf(input);
  const fields = Object.entries(recordOf(input)).filter(
    ([field, value]) => !known.includes(field) && !isNothing(value) && !isSaid(textOf(value)),
  );
  return fields.length === 0 ? "" : JSON.stringify(Object.fromEntries(fields), inShort);
}

function inShort(field: string, value: unknown): unknown {
  if (typeof value !== "string" || !CONTENT.test(field) || value.length <= CONTENT_CHARS) return value;
  const half = CONTENT_CHARS / 2;
  return `${value.slice(0, half)} … (${value.length.toLocaleString("en")} characters) … ${value.slice(-half)}`;
}

/** The files that the call names beside its input. */
function pathsOf({ locations, content }: ToolCall): string[] {
  const named = [locations, content].flatMap((list) => (Array.isArray(list) ? list : []));
  const paths = named.flatMap((each) => {
    const { path } = recordOf(each);
    return typeof path === "string" && path !== "" ? [path] : [];
  });
  return [...new Set(paths)];
}

function isNothing(value: unknown): boolean {
  return value === undefined || value === null || value === "";
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
