/**
 * The long run of the crash tests: what `npm test` runs of them (each named point, a short fleet), many kills at random
 * moments, and the simulator's most interesting seeds on real programs.
 */
import { join } from "node:path";
import { parseArgs } from "node:util";
import { interestingSeeds } from "./chaos/interesting-seeds.ts";

const HELP = `Usage: npm run chaos [-- KILLS] [--seeds] [--seed N,…] [--history] [--choose N] [--fleet]

Kills real processes of OpenCode (kill -9) and checks that nothing was lost, told twice or reported wrongly.

  KILLS        how many kills at random moments (30); with the named points before, and the seeds afterwards
  --seeds      only the seeds: the simulator's most interesting ones, played on real programs
  --seed N,…   only these seeds
  --history    print what happens in each seed also if nothing is wrong
  --fleet      only the fleet: 500 tasks on machines that share one PostgreSQL, which die, stand still and lose their
               database; and 10 tasks on the real OpenCode (some minutes)
  --choose N   play N seeds in the simulator, and keep the plans of the 20 most interesting ones
  --help       this text

Exit code: 0 when nothing was wrong, 1 when a test failed, 2 for wrong arguments.`;

const CHOSEN = 20;
const FLEET_TASKS = "500";
const PLANS = join(import.meta.dir, "../test/chaos/seeds/plans.jsonl");
const KILLS_AT_RANDOM = "./test/chaos/random-kills.check.ts";
const SEEDS = "./test/chaos/seeds.check.ts";
const SECOND = 1_000;

interface ChaosArguments {
  kills: string;
  /** The test files to run. */
  files: readonly string[];
  /** As the tests read it. */
  seeds: string;
  history: boolean;
  /** With many tasks. */
  fleet: boolean;
  choose: number | null;
  help: boolean;
}

function readArguments(args: readonly string[]): ChaosArguments {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      seeds: { type: "boolean", default: false },
      seed: { type: "string" },
      history: { type: "boolean", default: false },
      choose: { type: "string" },
      fleet: { type: "boolean", default: false },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  const [kills = "30", ...more] = positionals;
  if (more.length > 0 || !/^[1-9]\d{0,3}$/.test(kills)) throw new Error("KILLS must be one whole number.");
  if (values.seed !== undefined && !/^\d{1,9}(,\d{1,9})*$/.test(values.seed))
    throw new Error("--seed needs whole numbers, separated by commas.");
  if (values.choose !== undefined && !/^[1-9]\d{0,5}$/.test(values.choose))
    throw new Error("--choose needs a whole number.");
  return {
    kills,
    files: values.fleet
      ? ["test/chaos/fleet"]
      : values.seeds || values.seed !== undefined
        ? [SEEDS]
        : ["test/chaos", KILLS_AT_RANDOM, SEEDS],
    fleet: values.fleet,
    seeds: values.seed ?? "all",
    history: values.history,
    choose: values.choose === undefined ? null : Number(values.choose),
    help: values.help,
  };
}

async function runTests({ kills, files, seeds, history, fleet }: ChaosArguments): Promise<number> {
  const timeout = String((1 + Number(kills)) * 60 * SECOND);
  const child = Bun.spawn([process.execPath, "test", ...files, "--timeout", timeout], {
    cwd: join(import.meta.dir, ".."),
    env: {
      ...process.env,
      ASYNCAGENTS_CHAOS_KILLS: kills,
      ASYNCAGENTS_CHAOS_SEEDS: seeds,
      ...(history && { ASYNCAGENTS_CHAOS_HISTORY: "1" }),
      ...(fleet && { ASYNCAGENTS_FLEET_TASKS: FLEET_TASKS }),
    },
    stdio: ["ignore", "inherit", "inherit"],
  });
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => child.kill(signal));
  return child.exited;
}

async function run(): Promise<number> {
  let args: ChaosArguments;
  try {
    args = readArguments(process.argv.slice(2));
  } catch (thrown) {
    console.error(`${(thrown as Error).message}\n\n${HELP}`);
    return 2;
  }
  if (args.help) console.log(HELP);
  else if (args.choose === null) return runTests(args);
  else {
    const chosen = await interestingSeeds(args.choose, CHOSEN);
    await Bun.write(PLANS, chosen.map((each) => `${JSON.stringify(each)}\n`).join(""));
    for (const { why, plan } of chosen) console.log(`${plan.seed}: ${why}`);
  }
  return 0;
}

process.exitCode = await run();
