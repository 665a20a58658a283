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
import { addTokens, type RunView } from "./run-view.ts";
import type { AcpRunEnd } from "./transcript-lines.ts";
import type { AcpPromptResult } from "./wire.ts";

/** An error is told to people and to models: an agent's own may be of any length. */
const ERROR_CHARS = 10_000;

/** Why a run was ended from our side. */
export type Stop = { kind: "aborted" } | { kind: "silent"; ms: number };

export interface TurnsEnd {
  /** How the agent is called, for people. */
  agent: string;
  view: RunView;
  profile: AcpProfile;
  /** The responses to the prompts of the run; the last one is missing if something was thrown in its place. */
  results: readonly AcpPromptResult[];
  /** Null if nothing was thrown. */
  failure: unknown;
  stop: Stop | null;
  /** A person rejected something without a word. */
  isRefused: boolean;
  /** The agent said that its session is gone. */
  isLost: boolean;
  /** What the agent's session had cost before this run. */
  costBefore: number;
  /** The end of the agent's standard error output. */
  complaint: string;
  at: number;
}

export function endOfRun(turns: TurnsEnd): AcpRunEnd {
  const { view, results, failure, stop, isRefused, costBefore, at } = turns;
  const result = failure === null ? results.at(-1) : undefined;
  const tokens = view.callTokens ?? tokensOf(turns);
  const totalCost = view.totalCost ?? costBefore;
  const end: AcpRunEnd = {
    messageId: view.messageId,
    at,
    text: null,
    error: null,
    aborted: false,
    refused: false,
    worked: view.hasWorked,
    ...(turns.isLost && { lost: true }),
    stopReason: result?.stopReason ?? null,
    tokens,
    cost: costSince(totalCost, costBefore),
    totalCost,
  };
  if (stop?.kind === "aborted") return { ...end, error: "aborted", aborted: true };
  if (stop) return { ...end, error: silence(turns.agent, stop.ms) };
  if (isRefused) return { ...end, refused: true };
  const error = result === undefined ? failureText(turns) : errorOf(turns, result, tokens);
  return error === null ? { ...end, text: view.lastText } : { ...end, error: error.slice(0, ERROR_CHARS) };
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
      return view.unasked === null
        ? `${agent} cancelled its turn, and nobody had asked for that`
        : `${agent} cancelled its turn after ${view.unasked}`;
    default:
      return `${agent} ended its turn for an unknown reason (${result.stopReason.slice(0, 40) || "none given"})`;
  }
}

function failureText({ agent, failure, complaint, isLost }: TurnsEnd): string {
  if (isLost) {
    const next = "Resume the task: it goes on in a new session, which is told what happened in the old one.";
    return `${agent} has lost its session (${messageOf(failure)}). ${next}`;
  }
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

function tokensOf({ results, profile }: TurnsEnd): Tokens | null {
  const counted = results.flatMap((result) => profile.tokens(result) ?? []);
  const last = counted.at(-1) ?? null;
  return profile.counts === "turn" && last ? counted.reduce(addTokens) : last;
}

/** A total that is lower than before began anew. */
export function costSince(total: number, before: number): number {
  return total >= before ? total - before : total;
}
