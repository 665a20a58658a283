/**
 * What a command is: one entry of the table from which parsing, help and completion are made, so that none of them can disagree.
 * A command gets an invocation and gives its exit code; it prints through the invocation's screen only.
 */
import type { CommandArguments } from "./arguments.ts";
import type { Connection } from "./connection.ts";
import type { Screen } from "./terminal/screen.ts";

/** What shells offer in an operand's or an option's place. */
export type Completes = "file" | "directory" | "task" | "item" | "attempt" | "project" | readonly string[];

export interface CommandOption {
  /** How its value is called; absent for a switch. */
  value?: string;
  short?: string;
  multiple?: boolean;
  summary: string;
  completes?: Completes;
}

export interface Operand {
  name: string;
  /** What the usage line shows; `<name>` when absent. */
  shown?: string;
  optional?: boolean;
  repeated?: boolean;
  completes?: Completes;
}

export interface Command {
  /** One word, or several: `attempt start`. */
  name: string;
  summary: string;
  /** Other names that people know it by; of as many words. */
  aliases?: readonly string[];
  /** More lines for its help. */
  details?: string;
  operands?: readonly Operand[];
  options?: Readonly<Record<string, CommandOption>>;
  examples?: readonly string[];
  /** It hears signals itself. */
  ownsSignals?: boolean;
  /** Not listed: for programs. */
  hidden?: boolean;
  run(invocation: Invocation): Promise<number>;
}

export interface Invocation {
  readonly arguments: CommandArguments;
  readonly screen: Screen;
  readonly connection: Connection;
  /** The data folder. */
  readonly directory: string;
  /** Where the command was called. */
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
  readonly commands: readonly Command[];
}

export const GLOBAL_OPTIONS: Readonly<Record<string, CommandOption>> = {
  json: { summary: "print JSON instead of tables" },
  help: { short: "h", summary: "show help" },
};
