/** The settings of a run besides its host and agent: the model and the limits. Shared by all commands that launch. */
import type { CommandArguments } from "./arguments.ts";
import type { CommandOption } from "./command.ts";

export const RUN_OPTIONS: Readonly<Record<string, CommandOption>> = {
  model: { value: "model", short: "m", summary: "the model, as provider/model; for claude, just its name" },
  "max-minutes": { value: "number", summary: "stop the run after this many minutes of work" },
  "max-cost": { value: "dollars", summary: "stop the run when it exceeds this cost" },
};

export interface RunChoices {
  model?: string;
  max_minutes?: number;
  max_cost?: number;
}

export function readRunChoices(given: CommandArguments): RunChoices {
  const [model, minutes, cost] = [given.text("model"), given.amount("max-minutes"), given.amount("max-cost")];
  return {
    ...(model === undefined ? {} : { model }),
    ...(minutes === undefined ? {} : { max_minutes: minutes }),
    ...(cost === undefined ? {} : { max_cost: cost }),
  };
}
