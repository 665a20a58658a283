/**
 * Which operations are tools, and how clients see them. Everything comes from the table of operations; operations for
 * people are never tools. The server checks at every call whether `get_context` has a context.
 */
import type { Tool } from "@modelcontextprotocol/server";
import { z } from "zod";
import { EXECUTOR_NAMES, EXECUTOR_NAMES_FOR_MODELS } from "../protocol/fields.ts";
import type { Toolset } from "../protocol/operation.ts";
import { BOARD_OPERATIONS, type BoardOperationName, isBoardOperation } from "../protocol/operations.ts";
import { inputSchema, outputSchema } from "./tool-schemas.ts";

/** The operation with this name; null if it is not an offered tool. */
export function toolNamed(name: string, offered: Toolset): BoardOperationName | null {
  return isBoardOperation(name) && isOffered(name, offered) ? name : null;
}

/** The offered tools; `get_context` is one of them only if there is a context. */
export function toolsOf(offered: Toolset, options: { context: boolean; scripted: boolean }): Tool[] {
  const names = (Object.keys(BOARD_OPERATIONS) as BoardOperationName[]).filter((name) => isOffered(name, offered));
  const tools = names.filter((name) => name !== "get_context" || options.context).map(toolOf);
  return options.scripted ? tools : tools.map(withoutScripted);
}

/** Removes the name of the scripted executor from all texts, for models that may not use it. */
function withoutScripted(tool: Tool): Tool {
  return JSON.parse(JSON.stringify(tool).replaceAll(EXECUTOR_NAMES, EXECUTOR_NAMES_FOR_MODELS));
}

function isOffered(name: BoardOperationName, offered: Toolset): boolean {
  const { toolset } = BOARD_OPERATIONS[name];
  return toolset === "core" || (toolset === "extended" && offered === "extended");
}

const made = new Map<BoardOperationName, Tool>();

function toolOf(name: BoardOperationName): Tool {
  const known = made.get(name);
  if (known) return known;
  const {
    title,
    description,
    input,
    output,
    readOnly = false,
    destructive = false,
    openWorld = false,
    ...rest
  } = BOARD_OPERATIONS[name];
  const tool = {
    name,
    title,
    description,
    // The server knows the directory, so clients give no input.
    inputSchema: inputSchema(name === "get_context" ? z.object({}) : input),
    outputSchema: outputSchema(output),
    annotations: {
      readOnlyHint: readOnly,
      destructiveHint: destructive,
      idempotentHint: readOnly || (rest.idempotent ?? false),
      openWorldHint: openWorld,
    },
  } as Tool;
  made.set(name, tool);
  return tool;
}
