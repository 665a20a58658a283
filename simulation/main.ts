/** `npm run simulate`: plays seeds, prints progress, and shows a failing seed in its shortest form. */
import { HELP, readArguments, type SimulationArguments } from "./arguments.ts";
import { type Played, type PlayOptions, play } from "./scenario/play.ts";
import { shrink } from "./scenario/shrink.ts";
import { FAULTS, type Fault } from "./world/faults.ts";
import { SharedDatabase } from "./world/shared-database.ts";

const PROGRESS_MS = 5_000;
const SHOWN_LINES = 400;

async function main(args: SimulationArguments): Promise<number> {
  const database = await SharedDatabase.open();
  const began = performance.now();
  const counts = new Map<Fault, number>();
  let failed = 0;
  let steps = 0;
  let played = 0;
  let saidAt = began;
  for (let seed = args.seed; seed < args.seed + args.seeds; seed++) {
    if (args.minutes !== null && performance.now() - began > args.minutes * 60_000) break;
    const { calm, without } = args;
    const options = { seed, database, calm, without, keepHistory: args.history };
    const result = await play(options);
    played++;
    steps += result.steps;
    for (const [kind, count] of result.faults) counts.set(kind, (counts.get(kind) ?? 0) + count);
    if (result.violations.length > 0) {
      failed++;
      await report(options, result, args.shrink);
      if (!args.keepGoing) break;
    } else if (args.history) console.log(result.history.join("\n"));
    if (performance.now() - saidAt > PROGRESS_MS) {
      saidAt = performance.now();
      console.error(`  ${played} of ${args.seeds} seeds, ${failed} failed, ${rate(played, began)} a second`);
    }
  }
  database.close();
  console.log(`\n${played} seeds, ${failed} failed; ${steps} steps; ${rate(played, began)} seeds a second`);
  for (const kind of Object.keys(FAULTS) as Fault[]) {
    console.log(`  ${String(counts.get(kind) ?? 0).padStart(8)}  ${kind}`);
  }
  return failed === 0 ? 0 : 1;
}

async function report(options: PlayOptions, result: Played, shrinks: boolean): Promise<void> {
  if (!shrinks && result.history.length > 0) console.log(result.history.join("\n"));
  console.log(`\nSeed ${options.seed} failed:`);
  for (const violation of result.violations.slice(0, 10)) console.log(`  ${violation}`);
  if (!shrinks) return;
  const { calm, without } = await shrink(options, result, play);
  const { history, violations } = await play({ ...options, calm, without, keepHistory: true });
  console.log(`\nIn its shortest form:\n`);
  console.log(history.slice(-SHOWN_LINES).join("\n"));
  for (const violation of violations) console.log(`  ${violation}`);
  const flags = [`--seed ${options.seed}`];
  if (calm.size > 0) flags.push(`--calm "${[...calm].join(",")}"`);
  if (without.size > 0) flags.push(`--without ${[...without].join(",")}`);
  console.log(`\nAgain: npm run simulate -- ${flags.join(" ")}`);
}

function rate(count: number, began: number): string {
  return (count / ((performance.now() - began) / 1000)).toFixed(1);
}

async function run(): Promise<number> {
  let args: SimulationArguments;
  try {
    args = readArguments(process.argv.slice(2));
  } catch (thrown) {
    console.error(`${(thrown as Error).message}\n\n${HELP}`);
    return 2;
  }
  if (!args.help) return main(args);
  console.log(HELP);
  return 0;
}

process.exitCode = await run();
