/**
 * `npm run measure [-- --tree DIRECTORY] [--json] [--against FILE] [--verbose]`: the state of the house in figures.
 * `--tree` measures another checkout of this project by the same rules, for instance an older commit; `--json` prints
 * everything, and `--against` compares with such a file. It never fails because of a figure: tests check limits.
 */
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { root } from "../test/ground/repository.ts";
import { type HouseMeasures, measureHouse } from "./measure/house.ts";
import { report } from "./measure/report.ts";

// npm changes to the package's folder, and says where it was called.
const here = process.env.INIT_CWD ?? "";

async function main(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      tree: { type: "string", default: root },
      json: { type: "boolean", default: false },
      against: { type: "string" },
      verbose: { type: "boolean", default: false },
    },
  });
  const tree = resolve(here, values.tree);
  if (!existsSync(join(tree, "package.json"))) throw new Error(`${tree} is not a checkout of this project.`);
  const before: HouseMeasures | undefined =
    values.against === undefined ? undefined : JSON.parse(readFileSync(resolve(here, values.against), "utf8"));
  const house = await measureHouse(tree);
  if (values.json) console.log(JSON.stringify(house, null, 2));
  else console.log(report(house, { verbose: values.verbose, ...(before && { before }) }));
}

try {
  await main(process.argv.slice(2));
} catch (thrown) {
  console.error(thrown instanceof Error ? thrown.message : thrown);
  process.exitCode = 1;
}
