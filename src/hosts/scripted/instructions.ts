/**
 * Instructions for a scripted agent in a prompt, one per line: `!write path text`, `!wait path`, `!ask question`,
 * `!permit text`, `!fail reason`, `!refuse seconds reason` (the provider says that it will be back after that), `!say
 * text`. Reads and writes nothing outside the agent's directory. Ignores the rest of the prompt.
 */
import { constants, existsSync, lstatSync, watch } from "node:fs";
import { mkdir, open, realpath } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { AsyncAgentsError } from "../../model/errors.ts";
import { act, ask, fail, type ScriptedScript, type ScriptedStep, say } from "./script.ts";

const LINE = /^\s*!(\w+)(?:[ \t]+(.*?))?\s*$/gm;

type Instruction = (text: string, directory: string) => ScriptedStep;

const INSTRUCTIONS: Record<string, Instruction> = {
  write: (text, directory) => act("write", () => write(directory, text)),
  wait: (text, directory) => act("wait", (signal) => waitFor(directory, text, signal)),
  ask: (text) => ask("question", text || "What now?"),
  permit: (text) => ask("permission", text || "May I?"),
};

/** The steps of one turn, which always ends with a text or a failure. */
export function instructedSteps(prompt: string, directory: string): ScriptedScript {
  const steps: ScriptedStep[] = [];
  const said: string[] = [];
  for (const [, word = "", text = ""] of prompt.matchAll(LINE)) {
    if (word === "say") said.push(text);
    else if (word === "fail") return [...steps, fail(text || "failed as it was told to")];
    else if (word === "refuse") return [...steps, refusal(text)];
    else if (Object.hasOwn(INSTRUCTIONS, word)) steps.push(INSTRUCTIONS[word]?.(text, directory) ?? say(""));
    else return [fail(`There is no instruction !${word}. Known: ${known()}.`)];
  }
  const first = prompt.trim().split("\n")[0] ?? "";
  const answer = steps.length > 0 ? "Done." : `A scripted agent read: ${first.slice(0, 80)}`;
  return [...steps, say(said.length > 0 ? said.join("\n") : answer)];
}

function refusal(text: string): ScriptedStep {
  const [seconds = "", ...reason] = text.split(" ");
  return fail(reason.join(" ") || "out of quota", { returnMs: (Number.parseFloat(seconds) || 0) * 1000 });
}

function known(): string {
  return [...Object.keys(INSTRUCTIONS), "fail", "refuse", "say"].map((word) => `!${word}`).join(", ");
}

async function write(directory: string, text: string): Promise<string> {
  const [path = "", ...rest] = text.split(" ");
  const target = await inside(directory, path);
  await mkdir(dirname(target), { recursive: true });
  // Checked again: meanwhile a link may have been created that leads out, and the file itself may be one.
  const folder = await realpath(dirname(await inside(directory, path)));
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_NOFOLLOW;
  const file = await open(join(folder, basename(target)), flags).catch((cause: unknown) => {
    throw (cause as { code?: unknown }).code === "ELOOP" ? outside(directory, path) : cause;
  });
  try {
    await file.writeFile(`${rest.join(" ")}\n`);
  } finally {
    await file.close();
  }
  return `wrote ${path}`;
}

/** Resolves when the file exists, or when the turn is aborted. */
async function waitFor(directory: string, path: string, signal: AbortSignal): Promise<string> {
  const target = await inside(directory, path);
  const { promise, resolve: give } = Promise.withResolvers<void>();
  const look = () => {
    // A link counts as existing, wherever it leads: it is not followed.
    if (lstatSync(target, { throwIfNoEntry: false })) give();
  };
  const watcher = watch(dirname(target), look);
  const stop = () => give();
  signal.addEventListener("abort", stop, { once: true });
  look();
  if (signal.aborted) give();
  await promise;
  signal.removeEventListener("abort", stop);
  watcher.close();
  return signal.aborted ? `stopped waiting for ${path}` : `${path} exists`;
}

/** The absolute path of something below the directory, even through links. */
async function inside(directory: string, path: string): Promise<string> {
  const root = await realpath(directory);
  const target = resolve(root, path);
  let there = dirname(target);
  while (!existsSync(there)) there = dirname(there);
  if (path !== "" && isBelow(root, target) && isBelow(root, resolve(await realpath(there), "x"))) return target;
  throw outside(directory, path);
}

function outside(directory: string, path: string): AsyncAgentsError {
  const message = `"${path}" is not a path inside ${directory}. Give a relative one.`;
  return new AsyncAgentsError("invalid_input", message);
}

function isBelow(root: string, path: string): boolean {
  const way = relative(root, path);
  return way !== "" && way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}
