/** Where the tasks are kept. The address may have a password in it, so only a part of it is ever shown. */
import { postgresAddress } from "../../store/store-setting.ts";
import { optional } from "../section.ts";
import { text } from "../value-kinds.ts";

const EXAMPLE = "postgres://user:password@host:5432/database";
const ENCODED = "characters such as # / ? @ in the password percent-encoded (# is %23)";

export const store = {
  means: "Where the tasks are kept.",
  settings: {
    address: optional(
      text(
        `the address of a PostgreSQL database, ${EXAMPLE}, with ${ENCODED}`,
        (given) => !("problem" in postgresAddress(given)),
      ),
      {
        means:
          "A PostgreSQL database for the tasks. Every process that shares them needs it, and the file is as secret as the password.",
        variable: "ASYNCAGENTS_STORE",
        otherwise: "SQLite, in the data folder",
        shown: shownAddress,
      },
    ),
  },
};

function shownAddress(given: unknown): string {
  const address = postgresAddress(String(given));
  return "problem" in address ? "(not shown)" : address.shown;
}
