/** What a check of `doctor` is given, and what it answers: a state, and what to do about it. Checks nothing itself. */
import type { AppliedConfiguration } from "../../configuration/configuration.ts";
import type { Configuration } from "../../configuration/sections.ts";

export interface Finding {
  name: string;
  state: "ok" | "warning" | "problem";
  says: string;
  /** What to do; null if nothing is needed. */
  remedy: string | null;
}

export interface CheckContext {
  directory: string;
  /** The directory the command was called in. */
  cwd: string;
  environment: Readonly<Record<string, string | undefined>>;
  applied: AppliedConfiguration;
  /** Its values; defaults in place of what is wrong. */
  configuration: Configuration;
}

export const ok = (name: string, says: string): Finding => ({ name, state: "ok", says, remedy: null });
export const warning = (name: string, says: string, remedy: string): Finding => ({
  name,
  state: "warning",
  says,
  remedy,
});
export const problem = (name: string, says: string, remedy: string): Finding => ({
  name,
  state: "problem",
  says,
  remedy,
});
