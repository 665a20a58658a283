/**
 * What people, and written rules, are told about a permission that Claude asks for. Reads where links lead; changes
 * nothing.
 */
import type { AskedTool } from "../../model/request-policy.ts";
import { commandSubjects, shownWith, textOf } from "../permission-input.ts";
import { linkedPath } from "./linked-path.ts";

type Input = Record<string, unknown>;

/** The tool that runs a command, and where it says which. */
const COMMAND_TOOL = "Bash";
const COMMAND = "command";

/** Where Claude Code's own tools say which files they want. Their other fields say how, or what to look for. */
const FILE_FIELDS: Readonly<Record<string, readonly string[]>> = {
  Read: ["file_path"],
  Write: ["file_path"],
  Edit: ["file_path"],
  MultiEdit: ["file_path"],
  NotebookEdit: ["notebook_path"],
  Glob: ["path"],
  Grep: ["path"],
  LS: ["path"],
};

/** Where they say what else they want. */
const OTHER_FIELDS: Readonly<Record<string, readonly string[]>> = {
  Glob: ["pattern"],
  Grep: ["glob"],
  WebFetch: ["url"],
  WebSearch: ["query"],
};

/** Braces, and stars, mean something to them. */
const WITH_PATTERNS: readonly string[] = ["Glob", "Grep"];

/** A command comes first, and is not said again: it is what people look for. */
export function permissionText(tool: string, input: Input, title: string): string {
  const command = commandOf(tool, input);
  return shownWith({ title, name: tool, command }, input, command === null ? [] : [COMMAND]);
}

/**
 * What the tool wants to run, change or open: all of it, since a rule that allows must fit everything. Of a tool whose
 * fields nobody knows here, such as one of an MCP server, any field may say it. A file is where links lead, too.
 */
export async function permissionTool(name: string, input: Input, directory: string): Promise<AskedTool> {
  const command = commandOf(name, input);
  if (command !== null) {
    const { [COMMAND]: _command, ...others } = input;
    return { name, subjects: commandSubjects(command, others, directory) };
  }
  const [files, other] = [fieldsOf(FILE_FIELDS, name), fieldsOf(OTHER_FIELDS, name)];
  const isKnown = files.length + other.length > 0;
  const valuesOf = (fields: readonly string[]) =>
    fields.map((field) => input[field]).filter((value) => value !== undefined && value !== null);
  const subjects = valuesOf(isKnown ? [...files, ...other] : Object.keys(input)).map(textOf);
  const linked = await Promise.all(valuesOf(files).map((path) => linkedPath(textOf(path), directory)));
  const all = [...subjects, ...linked.filter((path) => path !== null)];
  const isNoCommand = isKnown && !WITH_PATTERNS.includes(name);
  return { name, subjects: all.length > 0 ? all : [JSON.stringify(input)], ...(isNoCommand && { isNoCommand }) };
}

/** A tool of a server may be called `constructor`. */
function fieldsOf(table: Readonly<Record<string, readonly string[]>>, tool: string): readonly string[] {
  return Object.hasOwn(table, tool) ? (table[tool] ?? []) : [];
}

function commandOf(tool: string, input: Input): string | null {
  const command = input[COMMAND];
  return tool === COMMAND_TOOL && typeof command === "string" && command.trim() !== "" ? command : null;
}
