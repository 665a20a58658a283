/** The wire names of hosts, and which of them can run agents here. Lower case and dashes are accepted too. */

import type { LaunchRequest } from "../engine/launch.ts";
import { requireBudget } from "../model/budgets/budget-text.ts";
import { AsyncAgentsError } from "../model/errors.ts";
import { isOwner, mayRaiseBudgets } from "../protocol/call-origin.ts";
import {
  ACP_EXECUTOR,
  acpExecutor,
  EXECUTOR_HOSTS,
  EXECUTORS,
  EXECUTORS_FOR_MODELS,
  type ExecutorName,
  splitExecutor,
} from "../protocol/executor-names.ts";
import { EXECUTOR_CHARS } from "../protocol/fields.ts";
import type { OperationOutput } from "../protocol/operations.ts";
import { isDirectoryAllowed, realOf } from "./approvals.ts";
import type { BoardCall } from "./board-call.ts";
import type { BoardContext, ExecutorInfo } from "./board-context.ts";
import type { Input } from "./input.ts";

type RunChoices = Pick<Input<"launch_task">, "model" | "max_minutes" | "max_cost" | "budget">;

/** A host that only another version knows, for example of an attempt that a newer one stored, keeps its own name. */
export function executorOf(host: string): string {
  return EXECUTORS.find((name) => EXECUTOR_HOSTS[name] === host) ?? wireName(host).slice(0, EXECUTOR_CHARS);
}

/** The host and the agent that a call names, if the caller may use it: `ACP:codex` names both. */
export function placeFor(
  context: BoardContext,
  { executor, variant }: { executor: string; variant?: string | undefined },
  call: BoardCall,
): { host: string; variant: string | null } {
  const named = splitExecutor(executor);
  const host = hostFor(context, named.agent === null ? executor : named.executor, call);
  const wanted = variant?.trim() || null;
  if (named.agent === null) return { host, variant: wanted };
  if (host !== EXECUTOR_HOSTS[ACP_EXECUTOR]) {
    const message = `Only ${ACP_EXECUTOR} takes the name of an agent after a colon. Give ${JSON.stringify(named.agent)} as variant.`;
    throw new AsyncAgentsError("invalid_input", message, { details: { field: "executor" } });
  }
  const agent = named.agent.toLowerCase();
  if (wanted !== null && wanted.toLowerCase() !== agent) {
    const message = `${executor} names the agent ${agent}, and ${JSON.stringify(wanted)} is another one. Leave one of them out.`;
    throw new AsyncAgentsError("invalid_input", message, { details: { field: "variant" } });
  }
  return { host, variant: agent };
}

function wireName(given: string): string {
  return given.trim().toUpperCase().replaceAll("-", "_");
}

/** The host behind an executor name, if the caller may use it. */
export function hostFor(context: BoardContext, given: string, call: BoardCall): string {
  const name = wireName(given);
  const offered = offeredTo(context, call);
  const known = offered.find((executor) => executor === name);
  if (known) return EXECUTOR_HOSTS[known];
  const message = `There is no executor ${JSON.stringify(given)}. Use one of ${offered.join(", ")}; list_executors says which can be used.`;
  throw new AsyncAgentsError("invalid_input", message, { details: { field: "executor" } });
}

/**
 * The scripted agent writes whatever its prompt says, and no model can refuse. It exists for people to try things
 * out.
 */
function offeredTo({ scriptedForModels = false }: BoardContext, { origin }: BoardCall): readonly ExecutorName[] {
  const all = isOwner(origin) || scriptedForModels;
  return all ? EXECUTORS : EXECUTORS_FOR_MODELS;
}

/** The run settings of a launch, in the engine's terms. */
export function runChoicesOf(
  host: string,
  { model, max_minutes, max_cost, budget }: RunChoices,
  { origin }: Pick<BoardCall, "origin">,
): Pick<LaunchRequest, "model" | "limits" | "budget" | "isAgents"> {
  const name = model?.trim() ?? "";
  const qualified = host === "claude" && !name.startsWith("anthropic/") ? `anthropic/${name}` : name;
  return {
    ...(name !== "" && { model: qualified }),
    ...(budget !== undefined && { budget: requireBudget(budget) }),
    isAgents: !mayRaiseBudgets(origin),
    limits: {
      ...(max_minutes !== undefined && { runMs: max_minutes * 60_000 }),
      ...(max_cost !== undefined && { cost: max_cost }),
    },
  };
}

/** Rejects a host that cannot be used now, and an agent that the host does not have. */
export async function assertUsable(
  context: BoardContext,
  { host, variant, directory }: { host: string; variant: string | null; directory: string },
): Promise<void> {
  const found = (await context.executors(null)).find((each) => each.host === host);
  const names = found?.conditions?.map(({ name }) => name) ?? [];
  if (variant !== null && names.length > 0 && !names.includes(variant)) throw unknownVariant(variant, names);
  // First, because it says how to get the very agent that was asked for.
  const agent = found?.conditions?.find(({ name }) => name === (variant ?? found.defaultAgent));
  if (agent && agent.problem !== null) {
    const details = { executor: acpExecutor(agent.name) };
    throw new AsyncAgentsError("host_unavailable", `${agent.problem} list_executors lists what can be used.`, {
      details,
    });
  }
  const problem = found === undefined ? "it is not set up in this program." : found.problem;
  if (problem !== null) {
    const message = `${executorOf(host)} cannot be used: ${problem} list_executors lists what can be used.`;
    throw new AsyncAgentsError("host_unavailable", message, { details: { executor: executorOf(host) } });
  }
  if (variant !== null) await assertVariant(context, { host, directory }, variant);
}

/** Rejects an agent that the host does not have in that directory. This opens the host there. */
export async function assertVariant(
  { desk }: Pick<BoardContext, "desk">,
  { host, directory }: { host: string; directory: string },
  variant: string,
): Promise<void> {
  const agents = (await (await desk.engine(host, directory)).agents()).map(({ name }) => name);
  if (!agents.includes(variant)) throw unknownVariant(variant, agents);
}

function unknownVariant(variant: string, agents: readonly string[]): AsyncAgentsError {
  const message = `There is no variant ${JSON.stringify(variant)}. Use one of ${agents.slice(0, 50).join(", ")}, or leave it out.`;
  return new AsyncAgentsError("unknown_agent", message, { details: { field: "variant" } });
}

export async function listExecutors(
  context: BoardContext,
  input: Input<"list_executors">,
  call: BoardCall,
): Promise<OperationOutput<"list_executors">> {
  const found = await context.executors(await directoryToOpen(context, input.directory, call));
  return { executors: offeredTo(context, call).flatMap((executor) => wireExecutors(executor, found)) };
}

/** Opening a host in a folder loads the folder's configuration. For a model, a person must have approved that first. */
async function directoryToOpen(context: BoardContext, given: string | undefined, call: BoardCall) {
  if (given === undefined || isOwner(call.origin)) return given ?? null;
  const real = realOf(given);
  return real !== null && (await isDirectoryAllowed(context, real, call)) ? real : null;
}

type WireExecutor = OperationOutput<"list_executors">["executors"][number];

function wireExecutors(executor: ExecutorName, found: readonly ExecutorInfo[]): WireExecutor[] {
  const info = found.find(({ host }) => host === EXECUTOR_HOSTS[executor]);
  if (info?.conditions) {
    return info.conditions.map(({ name, problem, limits }) => ({
      executor: acpExecutor(name),
      available: problem === null,
      problem,
      default_variant: null,
      variants: [],
      limits: [...limits],
    }));
  }
  const own = {
    executor,
    available: info !== undefined && info.problem === null,
    problem: info === undefined ? "It is not set up in this program." : info.problem,
    default_variant: info?.defaultAgent ?? null,
    variants: info?.agents ?? [],
    limits: [],
  };
  return [own];
}
