/**
 * Which operations are tools, and how a client sees them. The table of operations is the only source; operations for people are
 * never here. Whether there is a context for `get_context` is asked by the server, each time.
 */
import type { Tool } from "@modelcontextprotocol/server";
import { z } from "zod";
import { AsyncAgentsError } from "../model/errors.ts";
import { EXECUTOR_NAMES, EXECUTOR_NAMES_FOR_MODELS } from "../protocol/operation.ts";
import { isOperation, OPERATIONS, type OperationName } from "../protocol/operations.ts";
import { inputSchema, outputSchema } from "./tool-schemas.ts";

/** `seed`: the eleven tools only. `more`: the second toolset too. */
export type Offer = "seed" | "more";

/** Reads what a person wrote for `--tools` or ASYNCAGENTS_MCP_TOOLS. */
export function readOffer(given: string | undefined): Offer {
  if (given === undefined || given === "" || given === "more") return "more";
  if (given === "seed") return "seed";
  throw new AsyncAgentsError("invalid_input", `There are no tools "${given.slice(0, 40)}". Use seed, or more for all.`);
}

/** The operation of that name, if it is a tool here. */
export function toolNamed(name: string, offer: Offer): OperationName | null {
  return isOperation(name) && isOffered(name, offer) ? name : null;
}

/** All tools but `get_context`, which is listed only where there is a context. */
export function toolsOf(offer: Offer, options: { context: boolean; scripted: boolean }): Tool[] {
  const names = (Object.keys(OPERATIONS) as OperationName[]).filter((name) => isOffered(name, offer));
  const tools = names.filter((name) => name !== "get_context" || options.context).map(toolOf);
  return options.scripted ? tools : tools.map(withoutScripted);
}

/** Nothing that a model reads names the executor that it is not offered. */
function withoutScripted(tool: Tool): Tool {
  return JSON.parse(JSON.stringify(tool).replaceAll(EXECUTOR_NAMES, EXECUTOR_NAMES_FOR_MODELS));
}

function isOffered(name: OperationName, offer: Offer): boolean {
  const { toolset } = OPERATIONS[name];
  return toolset === "seed" || (toolset === "more" && offer === "more");
}

const made = new Map<OperationName, Tool>();

function toolOf(name: OperationName): Tool {
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
  } = OPERATIONS[name];
  const tool = {
    name,
    title,
    description,
    // The server knows its directory; a client has nothing to give.
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
