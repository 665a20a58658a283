/**
 * What an operation is: one entry of the table in `operations.ts`. Its HTTP address follows from its name
 * (`addresses.ts`). No behaviour.
 */
import type { z } from "zod";
import type { ErrorCode } from "../model/errors.ts";
import type { Role } from "../model/role.ts";

/** `core`: offered to every MCP client. `extended`: offered unless the client asks for the core toolset only. */
export type Toolset = "core" | "extended";

/** What every operation has, whoever performs it. */
export interface Operation<
  In extends z.ZodType | undefined = z.ZodType | undefined,
  Out extends z.ZodType = z.ZodType,
> {
  /** What it does or returns, in a few words. */
  title: string;
  /** The role that a token needs for it; null: tokens cannot use it, only callers on this machine. */
  role: Role | null;
  /** What a caller sends besides the id in the path: the query of a GET, the body of a POST. */
  input: In;
  output: Out;
  /** The codes that it fails with, besides those for a caller that is not allowed. */
  errors: readonly ErrorCode[];
  /**
   * For callers on this machine: `open` to everyone, or only with the `token`; if absent, with the token or as the same
   * user. From other machines, everything needs a token with the role.
   */
  access?: "open" | "token";
  /** It starts an agent, so it is rejected for agents that may not start others. */
  startsAgent?: true;
  /** It stops an agent: it is done even while nothing can be recorded. */
  stopsAgent?: true;
  /** It only notes that somebody saw something: the audit log leaves it out. */
  isReceipt?: true;
}

/** An operation of the status API: any server performs it, or forwards it to the process that can. */
export interface StatusOperation<
  In extends z.ZodType | undefined = z.ZodType | undefined,
  Out extends z.ZodType = z.ZodType,
> extends Operation<In, Out> {
  /** The HTTP status of a success; 200 by default. */
  status?: 201;
  /** The response is a stream of server-sent events that starts with the output. */
  isStream?: true;
}

/** An operation of the board: the daemon performs it. Those in a toolset are MCP tools. */
export interface BoardOperation<In extends z.ZodObject = z.ZodObject, Out extends z.ZodObject = z.ZodObject>
  extends Operation<In, Out> {
  /** For models: what it does, when to use it, and what to call next. */
  description: string;
  /** The MCP toolset that it belongs to; absent if it is not a tool. */
  toolset?: Toolset;
  /**
   * Not for models: only the command line and the dashboard offer it. Commands that agents run may use it only if it
   * changes nothing.
   */
  peopleOnly?: true;
  /** It changes nothing. */
  readOnly?: boolean;
  /** It may change or remove something that exists, itself or through the agent that it starts. */
  destructive?: boolean;
  /** The agent that it starts or continues may reach anything that its tools reach. */
  openWorld?: boolean;
  /** A second call with the same input changes nothing more. */
  idempotent?: boolean;
}

/** What any operation of the board may fail with; rarer codes depend on the operation. */
const BOARD_ERRORS: readonly ErrorCode[] = [
  "invalid_input",
  "missing_required",
  "too_large",
  "not_found",
  "daemon_unavailable",
  "outcome_unknown",
  "not_allowed",
  "approval_needed",
];

export function boardOperation<In extends z.ZodObject, Out extends z.ZodObject>(
  entry: Omit<BoardOperation<In, Out>, "errors" | "access">,
): BoardOperation<In, Out> {
  return { ...entry, errors: BOARD_ERRORS, access: "token" };
}

export function statusOperation<Out extends z.ZodType, In extends z.ZodType | undefined = undefined>(
  entry: Omit<StatusOperation<In, Out>, "input" | "errors"> & { input?: In; errors?: readonly ErrorCode[] },
): StatusOperation<In, Out> {
  return { ...entry, input: entry.input as In, errors: entry.errors ?? [] };
}
