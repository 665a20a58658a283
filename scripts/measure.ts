/**
 * `npm run measure [-- --tree DIRECTORY] [--json] [--against FILE] [--verbose]`: the state of the house in figures.
 * `--tree` measures another checkout of this project by the same rules, for instance an older commit; `--json` prints
 * everything, and `--against` compares with such a file. It never fails because of a figure: tests check limits.
 */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { root } from "../test/ground/repository.ts";
import { type HouseMeasures, measureHouse } from "./measure/house.ts";
import { report } from "./measure/report.ts";

const { values } = parseArgs({
  options: {
    tree: { type: "string", default: root },
    json: { type: "boolean", default: false },
    against: { type: "string" },
    verbose: { type: "boolean", default: false },
  },
});

// npm changes to the package's folder, and says where it was called.
const here = process.env.INIT_CWD ?? "";
const house = await measureHouse(resolve(here, values.tree));
if (values.json) console.log(JSON.stringify(house, null, 2));
else
  console.log(
    report(house, { verbose: values.verbose, ...(values.against && { before: readEarlier(values.against) }) }),
  );

function readEarlier(file: string): HouseMeasures {
  return JSON.parse(readFileSync(resolve(here, file), "utf8"));
}
