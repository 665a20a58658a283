/**
 * Defines a command: one entry of the table from which parsing, help and completion are generated, so that they
 * cannot disagree. A command receives an invocation and returns its exit code; it prints only through the
 * invocation's screen.
 */
import type { Configuration } from "../configuration/sections.ts";
import type { CommandArguments } from "./arguments.ts";
import type { Connection } from "./connection.ts";
import type { Screen } from "./terminal/screen.ts";

/** What shells offer as values of an operand or option. */
export type Completes = "file" | "directory" | "task" | "item" | "attempt" | "project" | readonly string[];

export interface CommandOption {
  /** The name of its value; absent for a switch. */
  value?: string;
  short?: string;
  multiple?: boolean;
  summary: string;
  completes?: Completes;
}

export interface Operand {
  name: string;
  /** What the usage line shows; `<name>` by default. */
  shown?: string;
  optional?: boolean;
  repeated?: boolean;
  completes?: Completes;
}

export interface Command {
  /** One word, or several: `attempt start`. */
  name: string;
  summary: string;
  /** Aliases, with the same number of words. */
  aliases?: readonly string[];
  /** Additional lines for its help. */
  details?: string;
  operands?: readonly Operand[];
  options?: Readonly<Record<string, CommandOption>>;
  examples?: readonly string[];
  /** A sentence for those who give it a text, which another command takes. */
  insteadWithText?: string;
  /** It handles signals itself. */
  ownsSignals?: boolean;
  /** Hidden from help: for programs only. */
  hidden?: boolean;
  run(invocation: Invocation): Promise<number>;
}

export interface Invocation {
  readonly arguments: CommandArguments;
  readonly screen: Screen;
  readonly connection: Connection;
  /** The data folder. */
  readonly directory: string;
  /** The settings that apply. Throws `configuration_invalid`, so only what needs them may call it. */
  configuration(): Configuration;
  /** The directory the command was called in. */
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
