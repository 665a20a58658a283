/**
 * Who makes a call (a person at the command line or the dashboard, or a model over MCP), and how deeply nested in
 * agents that we started. These two are sent in headers beside the token; a program of the same user that has the token
 * can send any header. Whose token it is and what it allows, the server finds out itself.
 */
import { agentOf } from "../model/access-token.ts";
import { includesRole, type Role } from "../model/role.ts";

export interface CallOrigin {
  door: "person" | "model";
  /** 0 outside of our agents, 1 in an agent that we started, and so on; null if it is not known. */
  depth: number | null;
  /** The name and the role of the caller's token; absent for the user of this machine, who may do everything. */
  token?: { name: string; role: Role };
  /**
   * True if nobody proved who calls: a program of the same user without the token of the data folder, or a page of
   * another loopback port in that user's browser. It reads only, and nothing is started for it.
   */
  isTokenless?: true;
}

export const FROM_PERSON: CallOrigin = { door: "person", depth: 0 };
export const DOOR_HEADER = "x-asyncagents-door";
export const DEPTH_HEADER = "x-asyncagents-depth";
/** Set in the environment of every agent that we start. */
export const DEPTH_VARIABLE = "ASYNCAGENTS_DEPTH";
const UNKNOWN = "unknown";

/** True for a person, false for a command that an agent runs. */
export function isPerson({ door, depth }: CallOrigin): boolean {
  return door === "person" && depth === 0;
}

/** True for a person who may approve what agents do here: the user of this machine, or the holder of an admin token. */
export function isOwner(origin: CallOrigin): boolean {
  return isPerson(origin) && holdsRole(origin, "admin") && origin.isTokenless !== true;
}

/**
 * True for a person who may let tasks use more than is configured. A used-up budget is in the inbox: to raise it is an
 * answer. Everybody else only lowers budgets, at a launch as well.
 */
export function mayRaiseBudgets(origin: CallOrigin): boolean {
  return isPerson(origin) && holdsRole(origin, "answer");
}

/** Null: no token suffices. */
export function holdsRole({ token }: CallOrigin, needed: Role | null): boolean {
  return token === undefined || (needed !== null && includesRole(token.role, needed));
}

/** As the audit log and processes that are asked name the caller. Without a token it is not the user who calls. */
export function callerName(origin: CallOrigin): string {
  if (origin.isTokenless) return "without a token";
  const name = origin.token?.name;
  if (isPerson(origin)) return name ?? "local user";
  return name === undefined ? "agent" : agentOf(name);
}

/** A depth that is not known is sent as such: a person's call without one counts as a person's own. */
export function originHeaders({ door, depth }: CallOrigin): Record<string, string> {
  return { [DOOR_HEADER]: door, [DEPTH_HEADER]: depth === null ? UNKNOWN : String(depth) };
}

/** The caller of a request that has the token: a person, unless its headers say otherwise. */
export function originOf(headers: Headers): CallOrigin {
  const given = headers.get(DEPTH_HEADER);
  // An unknown word, or one that was sent twice, counts as a model's.
  const door = (headers.get(DOOR_HEADER) ?? "person") === "person" ? "person" : "model";
  return { door, depth: given === null && door === "person" ? 0 : readDepth(given) };
}

/** Empty if a client's configuration refers to the variable and it is not set: then there is no agent around it. */
export function readDepth(given: string | null | undefined): number | null {
  const text = given?.trim();
  if (text === "") return 0;
  return text !== undefined && /^\d{1,3}$/.test(text) ? Number(text) : null;
}
