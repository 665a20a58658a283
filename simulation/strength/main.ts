/**
 * `npm run strength`: puts known faults and mistakes into a copy of the code, one at a time, and says how many seeds
 * the simulation needs to find each. A fault counts as found at a seed that fails in a way in which the present code
 * does not fail at that seed.
 */
import { parseArgs } from "node:util";
import { play } from "../scenario/play.ts";
import { kindOfViolation } from "../scenario/shrink.ts";
import { SharedDatabase } from "../world/shared-database.ts";
import { KNOWN_FAULTS, OUT_OF_REACH } from "./known-faults.ts";
import { MUTATIONS } from "./mutations.ts";
import type { PutBack } from "./put-back.ts";
import type { FailedSeed } from "./search.ts";
import { misfits, Workshop } from "./workshop.ts";

const HELP = `Usage: npm run strength -- [--seeds N] [--seed S] [--minutes N] [--only NAME,…] [--list]

  --seeds N      how many seeds to play for each fault (2000)
  --seed S       the first seed (1)
  --minutes N    the most time for one fault (20)
  --only NAMES   only these faults, separated by commas
  --list         say what is put back, and play nothing

Exit code: 0 when all were found, 1 when one was not, 2 when an edit does not fit the code any more.`;

interface Options {
  first: number;
  seeds: number;
  minutes: number;
}

/** How the present code fails at a seed. */
class Baseline {
  readonly #database: SharedDatabase;
  readonly #kinds = new Map<number, ReadonlySet<string>>();

  constructor(database: SharedDatabase) {
    this.#database = database;
  }

  async kinds(seed: number): Promise<ReadonlySet<string>> {
    const known = this.#kinds.get(seed);
    if (known) return known;
    const { violations } = await play({ seed, database: this.#database });
    const kinds = new Set(violations.map(kindOfViolation));
    this.#kinds.set(seed, kinds);
    return kinds;
  }
}

interface Report {
  name: string;
  seed: number | null;
  played: number;
}

async function examine(fault: PutBack, workshop: Workshop, baseline: Baseline, options: Options): Promise<Report> {
  const began = performance.now();
  let words = "";
  let seed: number | null = null;
  const isFound = async (failed: FailedSeed) => {
    const usual = await baseline.kinds(failed.seed);
    const own = failed.violations.find((violation) => !usual.has(kindOfViolation(violation)));
    if (own === undefined) return false;
    words = own;
    ({ seed } = failed);
    return true;
  };
  const { played, problem } = await workshop.search(fault, options, isFound);
  const seconds = (performance.now() - began) / 1000;
  const rate = `${(played / seconds).toFixed(1)} a second`;
  if (seed !== null) console.log(`found      ${fault.name.padEnd(28)} seed ${seed} (${rate}): ${words}`);
  else console.log(`NOT FOUND  ${fault.name.padEnd(28)} ${played} seeds (${rate}) ${problem ?? ""}`);
  return { name: fault.name, seed, played };
}

function summarize(title: string, reports: readonly Report[]): void {
  if (reports.length === 0) return;
  const found = reports.filter(({ seed }) => seed !== null);
  const seeds = found.map(({ played }) => played).sort((one, other) => one - other);
  const middle = seeds[Math.floor(seeds.length / 2)] ?? 0;
  const share = Math.round((100 * found.length) / reports.length);
  console.log(
    `${title}: ${found.length} of ${reports.length} found (${share}%); half of them within ${middle} seeds, all within ${seeds.at(-1) ?? 0}`,
  );
}

function list(): void {
  for (const { name, fault } of [...KNOWN_FAULTS, ...MUTATIONS]) console.log(`${name.padEnd(28)} ${fault}`);
  console.log("\nOut of reach:");
  for (const { name, fault, why, testedBy } of OUT_OF_REACH) {
    console.log(`${name.padEnd(28)} ${fault} ${why} Tested by ${testedBy}.`);
  }
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      seeds: { type: "string", default: "2000" },
      seed: { type: "string", default: "1" },
      minutes: { type: "string", default: "20" },
      only: { type: "string", default: "" },
      list: { type: "boolean", default: false },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  if (values.help) console.log(HELP);
  if (values.list) list();
  if (values.help || values.list) return 0;
  const problems = misfits([...KNOWN_FAULTS, ...MUTATIONS]);
  for (const problem of problems) console.error(`Repair this edit: ${problem}`);
  if (problems.length > 0) return 2;
  const names = values.only.split(",").filter((name) => name !== "");
  const chosen = ({ name }: PutBack) => names.length === 0 || names.includes(name);
  const options = { first: Number(values.seed), seeds: Number(values.seeds), minutes: Number(values.minutes) };
  const database = await SharedDatabase.open();
  const baseline = new Baseline(database);
  const workshop = new Workshop();
  const began = performance.now();
  const groups: [string, Report[]][] = [];
  try {
    for (const [title, faults] of [
      ["Known faults", KNOWN_FAULTS],
      ["Mutations", MUTATIONS],
    ] as const) {
      const reports: Report[] = [];
      for (const fault of faults.filter(chosen)) reports.push(await examine(fault, workshop, baseline, options));
      groups.push([title, reports]);
    }
  } finally {
    workshop.close();
    database.close();
  }
  console.log("");
  for (const [title, reports] of groups) summarize(title, reports);
  const all = groups.flatMap(([, reports]) => reports);
  const seeds = all.reduce((sum, { played }) => sum + played, 0);
  console.log(`${seeds} seeds, ${(seeds / ((performance.now() - began) / 1000)).toFixed(1)} a second`);
  return all.every(({ seed }) => seed !== null) ? 0 : 1;
}

process.exitCode = await main();
