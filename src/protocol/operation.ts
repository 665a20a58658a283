/** What an operation of the board is: one entry of the table in `operations.ts`. No behaviour. */
import type { z } from "zod";

/** `core`: offered to every MCP client. `extended`: offered unless the client asks for the core toolset only. */
export type Toolset = "core" | "extended";

export interface Operation<In extends z.ZodObject = z.ZodObject, Out extends z.ZodObject = z.ZodObject> {
  title: string;
  /** For a model: what it does, when to use it, and what to call next. */
  description: string;
  /** The MCP toolset that it is in; absent where it is not a tool. */
  toolset?: Toolset;
  /** Not for models: the command line and the dashboard offer it. */
  peopleOnly?: true;
  input: In;
  output: Out;
  /** It changes nothing. */
  readOnly?: boolean;
  /** It may change or remove something that was there, itself or through the agent that it sets to work. */
  destructive?: boolean;
  /** It sets an agent to work, which may reach anything that its tools reach. */
  openWorld?: boolean;
  /** A second call with the same input changes nothing more. */
  idempotent?: boolean;
}

export function operation<In extends z.ZodObject, Out extends z.ZodObject>(
  entry: Operation<In, Out>,
): Operation<In, Out> {
  return entry;
}
