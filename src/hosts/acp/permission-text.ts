/**
 * What people, and rules, are told about a permission that an agent asks for. A title is the agent's own words, so
 * everything that its tool gets is shown beside it. Pure.
 */
import type { AskedTool } from "../../model/request-policy.ts";
import { commandSubjects, isNothing, shownWith, textOf } from "../permission-input.ts";
import { type AcpPermission, recordOf } from "./wire.ts";

type ToolCall = AcpPermission["toolCall"];

export function permissionText({ toolCall }: AcpPermission, name: string): string {
  const { title = null, rawInput } = toolCall;
  const command = commandOf(rawInput);
  const text = shownWith({ title, name, command }, rawInput, command === null ? [] : COMMAND);
  const isSaid = (path: string) => title?.replaceAll("`", "").trim() === path.trim();
  const paths = pathsOf(toolCall).filter((path) => !text.includes(JSON.stringify(path)) && !isSaid(path));
  return paths.length === 0 ? text : `${text} (changes ${paths.join(", ")})`;
}

/**
 * What the tool wants to run, change or open: all of it, since a rule that allows must fit everything. The files that a
 * command is said to touch say nothing new about it. Without an input, the title is all that is known.
 */
export function permissionSubjects({ toolCall }: AcpPermission, directory: string): string[] {
  const input = recordOf(toolCall.rawInput);
  const command = commandOf(input);
  if (toolCall.kind === "execute" && command !== null) {
    const others = Object.entries(input).filter(([field]) => !COMMAND.includes(field));
    return commandSubjects(command, Object.fromEntries(others), directory);
  }
  const fields = Object.values(input).filter((value) => !isNothing(value));
  const isPlain = typeof toolCall.rawInput !== "object" || Array.isArray(toolCall.rawInput);
  const plain = isPlain && !isNothing(toolCall.rawInput) ? [textOf(toolCall.rawInput)] : [];
  const subjects = [...plain, ...fields.map(textOf), ...pathsOf(toolCall)];
  return subjects.length > 0 ? subjects : [toolCall.title ?? ""];
}

/** Kinds of tools that want files or addresses, as agents say. A command among the input tells otherwise. */
const NO_COMMANDS: readonly unknown[] = ["read", "edit", "delete", "move", "fetch"];

export function permissionTool(asked: AcpPermission, name: string, directory: string): AskedTool {
  const { kind, rawInput } = asked.toolCall;
  const isNoCommand = NO_COMMANDS.includes(kind) && commandOf(rawInput) === null;
  return { name, subjects: permissionSubjects(asked, directory), ...(isNoCommand && { isNoCommand }) };
}

const COMMAND: readonly string[] = ["command", "args"];

/** Some agents give a command word by word, or its arguments apart. Null if there is none. */
function commandOf(input: unknown): string | null {
  const { command, args } = recordOf(input);
  if (typeof command !== "string" && !Array.isArray(command)) return null;
  const words = [command, args ?? []].flat().map(textOf);
  return words.join(" ").trim() || null;
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
