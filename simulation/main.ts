/** `npm run simulate`: plays seeds, prints progress, and shows a failing seed in its shortest form. */
import { HELP, readArguments, type SimulationArguments } from "./arguments.ts";
import { type PlayedSeed, playedSeed } from "./player.ts";
import { playAll } from "./players.ts";
import { type PlayOptions, play } from "./scenario/play.ts";
import { type Shorter, shrink } from "./scenario/shrink.ts";
import { Tally } from "./tally.ts";
import { SharedDatabase } from "./world/shared-database.ts";

const PROGRESS_MS = 5_000;
const SHOWN_LINES = 300;
const SHOWN_VIOLATIONS = 10;
/** How often `shrink` says that it is still at work. */
const TRIES = 25;

async function main(args: SimulationArguments): Promise<number> {
  if (args.seeds === 1) return playOne(args);
  const began = performance.now();
  const tally = new Tally(args.seeds, began);
  let isInterrupted = false;
  let saidAt = began;
  const interrupt = () => {
    isInterrupted = true;
  };
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, interrupt);
  const { seed: from, calm, without } = args;
  const task = { from, until: from + args.seeds, calm: [...calm], without: [...without], ...limitsOf(args) };
  await playAll(task, args.jobs, (played) => {
    tally.add(played);
    const now = performance.now();
    if (played.violations.length > 0) say(failure(played));
    if (now - saidAt > PROGRESS_MS) {
      saidAt = now;
      console.error(`… ${tally.progress(now)}`);
    }
    const isOver = args.minutes !== null && now - began > args.minutes * 60_000;
    return !isInterrupted && !isOver && (played.violations.length === 0 || args.keepGoing);
  });
  const ended = performance.now();
  const [first] = tally.failed;
  say(`\n${tally.summary(ended)}`);
  if (first && args.shrink && !args.keepGoing && !isInterrupted) await showShortest(args, first.seed);
  return tally.failed.length === 0 ? 0 : 1;
}

function limitsOf({ storm, steps }: SimulationArguments): Pick<PlayOptions, "stormMs" | "maxSteps"> {
  return { ...(storm !== null && { stormMs: storm }), ...(steps !== null && { maxSteps: steps }) };
}

/** One seed, with its history if somebody wants to read it. */
async function playOne(args: SimulationArguments): Promise<number> {
  const { seed, calm, without } = args;
  const database = await SharedDatabase.open();
  const isShort = calm.size > 0 || without.size > 0 || args.storm !== null;
  const keepHistory = args.history || isShort || !args.shrink;
  const played = await play({ seed, database, calm, without, keepHistory, ...limitsOf(args) });
  const isWrong = played.violations.length > 0;
  if (args.history) say(played.history.join("\n"));
  else if (isWrong && keepHistory) say(shownHistory(played.history));
  if (!isWrong) say(`\nSeed ${seed}: every promise was kept, in ${played.steps} steps.`);
  else say(failure(playedSeed(seed, played)));
  if (isWrong && args.shrink && !isShort) await showShortest(args, seed);
  database.close();
  return isWrong ? 1 : 0;
}

function failure({ seed, violations }: PlayedSeed): string {
  const shown = violations.slice(0, SHOWN_VIOLATIONS).map((violation) => `  ${violation}`);
  const left = violations.length - shown.length;
  return [`\nSeed ${seed} failed:`, ...shown, ...(left > 0 ? [`  and ${left} more`] : [])].join("\n");
}

async function showShortest(args: SimulationArguments, seed: number): Promise<void> {
  const { calm, without } = args;
  const database = await SharedDatabase.open();
  const options: PlayOptions = { seed, database, calm, without, ...limitsOf(args) };
  let tries = 0;
  const stop = () => {
    say(`\nStopped. To play it as it is:\n  npm run simulate -- --seed ${seed} --no-shrink`);
    process.exit(1);
  };
  process.once("SIGINT", stop);
  const { shorter } = await shrink(options, await play(options), (candidate) => {
    if (++tries % TRIES === 0) console.error(`… looking for a shorter form: played ${tries} times`);
    return play(candidate);
  });
  process.off("SIGINT", stop);
  const played = await play({ ...options, ...shorter, keepHistory: true });
  database.close();
  say(`\nIn its shortest form:\n\n${shownHistory(played.history)}`);
  say(failure(playedSeed(seed, played)));
  say(`\nTo play it again:\n  npm run simulate -- ${flags(args, seed, shorter)}`);
}

function flags({ steps }: SimulationArguments, seed: number, { calm, without, stormMs }: Shorter): string {
  const all = [`--seed ${seed}`];
  if (steps !== null) all.push(`--steps ${steps}`);
  if (stormMs !== undefined) all.push(`--storm ${stormMs}`);
  if (without.size > 0) all.push(`--without ${[...without].sort((one, other) => one - other).join(",")}`);
  if (calm.size > 0) all.push(`--calm "${[...calm].join(",")}"`);
  return all.join(" ");
}

function shownHistory(history: readonly string[]): string {
  const left = history.length - SHOWN_LINES;
  const shown = history.slice(-SHOWN_LINES);
  return (left > 0 ? [`  (earlier lines left out: ${left}; --history prints all)`, ...shown] : shown).join("\n");
}

function say(text: string): void {
  console.log(text);
}

async function run(): Promise<number> {
  let args: SimulationArguments;
  try {
    args = readArguments(process.argv.slice(2));
  } catch (thrown) {
    const problem = (thrown as Error).message.replace(/\.?$/, ".");
    console.error(`${problem} \`npm run simulate -- --help\` lists the arguments.`);
    return 2;
  }
  if (!args.help) return main(args);
  say(HELP);
  return 0;
}

process.exitCode = await run();
