/**
 * How a run ended, judged from what its agent said and did. Invariant: only a turn that the agent itself ended with
 * `end_turn`, without a sign of failure that its profile knows, has an answer; a process that died first was
 * interrupted. Pure.
 */
import { AsyncAgentsError, messageOf } from "../../model/errors.ts";
import { interruption } from "../../model/evidence.ts";
import type { Tokens } from "../../model/progress.ts";
import { AgentGone, AgentRefusal } from "./connection-errors.ts";
import type { AcpProfile } from "./profiles/profile.ts";
import type { RunView } from "./run-view.ts";
import type { AcpRunEnd } from "./transcript-lines.ts";
import type { AcpPromptResult } from "./wire.ts";

/** Why a run was ended from our side. */
export type Stop = { kind: "aborted" } | { kind: "silent"; ms: number };

export interface TurnsEnd {
  /** How the agent is called, for people. */
  agent: string;
  view: RunView;
  profile: AcpProfile;
  /** The response to the last prompt; null if there is none. */
  result: AcpPromptResult | null;
  /** What was thrown in its place. */
  failure: unknown;
  stop: Stop | null;
  /** A person rejected something without a word. */
  isRefused: boolean;
  /** What the agent had counted in its session before this run. */
  before: AcpRunEnd["totals"];
  /** The end of the agent's standard error output. */
  complaint: string;
  at: number;
}

const NO_TOKENS: Tokens = { input: 0, output: 0, reasoning: 0, cacheRead: 0, cacheWrite: 0 };

export function endOfRun(turns: TurnsEnd): AcpRunEnd {
  const { view, profile, result, stop, isRefused, before, at } = turns;
  const counted = view.callTokens ?? (result ? profile.tokens(result) : null);
  const goesOn = profile.counts === "session" && view.callTokens === null;
  const tokens = goesOn && counted ? tokensSince(counted, before.tokens ?? NO_TOKENS) : counted;
  const total = view.totalCost ?? before.cost;
  const end: AcpRunEnd = {
    messageId: view.messageId,
    at,
    text: null,
    error: null,
    aborted: false,
    refused: false,
    stopReason: result?.stopReason ?? null,
    tokens,
    cost: total >= before.cost ? total - before.cost : total,
    totals: { tokens: goesOn ? (counted ?? before.tokens) : null, cost: total },
  };
  if (stop?.kind === "aborted") return { ...end, error: "aborted", aborted: true };
  if (stop) return { ...end, error: silence(turns.agent, stop.ms) };
  if (isRefused) return { ...end, refused: true };
  const error = result === null ? failureText(turns) : errorOf(turns, result, tokens);
  return error === null ? { ...end, text: view.lastText } : { ...end, error };
}

function errorOf({ agent, view, profile }: TurnsEnd, result: AcpPromptResult, tokens: Tokens | null): string | null {
  const { notes, hasFailed, lastText: text } = view;
  switch (result.stopReason) {
    case "end_turn":
      return profile.failure({ result, text, notes, hasFailed, tokens });
    case "max_tokens":
      return "stopped at the model's output limit (max_tokens)";
    case "max_turn_requests":
      return "stopped at the agent's own limit of model requests (max_turn_requests)";
    case "refusal":
      return "the model refused to go on (refusal)";
    case "cancelled":
      return `${agent} cancelled its turn, and nobody had asked for that`;
    default:
      return `${agent} ended its turn for an unknown reason (${result.stopReason.slice(0, 40) || "none given"})`;
  }
}

function failureText({ agent, failure, complaint }: TurnsEnd): string {
  const said = complaint === "" ? "" : ` It said: ${complaint}`;
  if (failure instanceof AgentGone) {
    return interruption(
      `the process of ${agent} ended (${failure.message}) before the run did. Resume the task to go on.${said}`,
    );
  }
  if (failure instanceof AgentRefusal && failure.needsLogin) {
    return `${agent} needs a login (${failure.message}). Log in with its own program, then resume the task.`;
  }
  if (failure instanceof AgentRefusal || AsyncAgentsError.isInstance(failure)) return messageOf(failure);
  return `${agent} failed: ${messageOf(failure)}.${said}`;
}

function silence(agent: string, ms: number): string {
  const minutes = Math.round(ms / 6_000) / 10;
  return `${agent} sent nothing for ${minutes} minutes, so it was stopped. It may have waited for its provider. agents.silentMinutes sets the limit.`;
}

/** A count that is lower than before began anew. */
function tokensSince(now: Tokens, before: Tokens): Tokens {
  if (now.input < before.input || now.output < before.output) return now;
  return {
    input: now.input - before.input,
    output: now.output - before.output,
    reasoning: Math.max(0, now.reasoning - before.reasoning),
    cacheRead: Math.max(0, now.cacheRead - before.cacheRead),
    cacheWrite: Math.max(0, now.cacheWrite - before.cacheWrite),
  };
}
