/** The settings of a run besides its host and agent: the model, the limits, the queue. For all commands that launch. */
import { IF_FAILED, type IfFailed } from "../model/after.ts";
import { AsyncAgentsError } from "../model/errors.ts";
import type { CommandArguments } from "./arguments.ts";
import type { CommandOption } from "./command.ts";

export const RUN_OPTIONS: Readonly<Record<string, CommandOption>> = {
  model: { value: "model", short: "m", summary: "the model, as provider/model; for claude, just its name" },
  "max-minutes": { value: "number", summary: "stop the run after this many minutes of work" },
  "max-cost": { value: "dollars", summary: "stop the run when it exceeds this cost" },
  budget: { value: "budget", summary: "all that it and its own tasks may use, for example '$2 30min 500ktok'" },
};

export interface RunChoices {
  model?: string;
  max_minutes?: number;
  max_cost?: number;
  budget?: string;
}

export function readRunChoices(given: CommandArguments): RunChoices {
  const [model, minutes, cost] = [given.text("model"), given.amount("max-minutes"), given.amount("max-cost")];
  const budget = given.text("budget");
  return {
    ...(model === undefined ? {} : { model }),
    ...(minutes === undefined ? {} : { max_minutes: minutes }),
    ...(cost === undefined ? {} : { max_cost: cost }),
    ...(budget === undefined ? {} : { budget }),
  };
}

export const QUEUE_OPTIONS: Readonly<Record<string, CommandOption>> = {
  queue: { short: "q", summary: "let any runner do it (asyncagents runner) instead of the daemon" },
  label: { value: "name", multiple: true, summary: "with --queue: only a runner with this label; may be repeated" },
  priority: { value: "number", summary: "with --queue: higher ones first (default: 0)" },
  retry: { value: "number", summary: "with --queue: start again that often if its runner dies (default: 0)" },
};

export const AFTER_OPTIONS: Readonly<Record<string, CommandOption>> = {
  after: {
    value: "task",
    multiple: true,
    summary: "start when this task has ended; may be repeated",
    completes: "task",
  },
  "if-failed": {
    value: "policy",
    summary: `with --after, if one does not complete: ${IF_FAILED.join(", ")} (default: skip)`,
    completes: IF_FAILED,
  },
};

/** The ids as they were typed; a policy alone makes sense only for a task that waits already. */
export function readAfter(given: CommandArguments): { after: string[]; ifFailed?: IfFailed } {
  const [after, policy] = [given.texts("after"), given.text("if-failed")];
  if (policy === undefined) return { after };
  const ifFailed = IF_FAILED.find((each) => each === policy);
  if (ifFailed) return { after, ifFailed };
  const message = `--if-failed must be ${IF_FAILED.join(", ")}, not "${policy.slice(0, 40)}".`;
  throw new AsyncAgentsError("invalid_input", message);
}

export interface QueueSettings {
  labels?: string[];
  priority?: number;
  retry?: number;
}

/** Null if it is not for the queue. */
export function readQueueChoices(given: CommandArguments): QueueSettings | null {
  const stray = ["label", "priority", "retry"].find((name) => given.has(name));
  if (!given.flag("queue") && stray !== undefined) {
    throw new AsyncAgentsError("invalid_input", `--${stray} needs --queue: add --queue, or remove --${stray}.`);
  }
  if (!given.flag("queue")) return null;
  if (given.flag("worktree")) {
    const message = "--queue and --worktree exclude each other: an attempt runs in the daemon.";
    throw new AsyncAgentsError("invalid_input", message);
  }
  const [labels, priority, retry] = [given.texts("label"), whole(given, "priority"), whole(given, "retry")];
  return {
    ...(labels.length === 0 ? {} : { labels }),
    ...(priority === undefined ? {} : { priority }),
    ...(retry === undefined ? {} : { retry }),
  };
}

function whole(given: CommandArguments, name: string): number | undefined {
  const text = given.text(name);
  if (text === undefined) return undefined;
  if (/^-?\d{1,4}$/.test(text)) return Number(text);
  throw new AsyncAgentsError("invalid_input", `--${name} must be a whole number, not "${text.slice(0, 40)}".`);
}
