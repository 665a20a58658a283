/** The names of the toolsets, as people and clients write them. Loads no tools. */
import { AsyncAgentsError } from "../model/errors.ts";
import type { Toolset } from "../protocol/operation.ts";

/** Earlier names, which are still in clients' configurations. */
const FORMER_NAMES: Readonly<Record<string, Toolset>> = { seed: "core", more: "extended" };

/** Null if there is none of this name. */
export function toolsetNamed(given: string): Toolset | null {
  if (given === "core" || given === "extended") return given;
  return (Object.hasOwn(FORMER_NAMES, given) && FORMER_NAMES[given]) || null;
}

/** Reads the value of `--tools`, or of a client's address. */
export function readToolset(given: string | undefined): Toolset {
  if (given === undefined || given === "") return "extended";
  const known = toolsetNamed(given);
  if (known) return known;
  const message = `There are no tools "${given.slice(0, 40)}". Use core, or extended for all.`;
  throw new AsyncAgentsError("invalid_input", message);
}
