/** `store copy`: copies a whole store into an empty one. Works without a daemon, and only without one. */
import { resolve } from "node:path";
import { AsyncAgentsError } from "../../model/errors.ts";
import type { CopyAddress } from "../../store/copying/copy-ends.ts";
import type { CopiedTable, CopyProgress } from "../../store/copying/copy-store.ts";
import { postgresAddress, storeSetting } from "../../store/store-setting.ts";
import type { Command, Invocation } from "../command.ts";
import { EXIT } from "../exit-codes.ts";
import { padTo } from "../terminal/text.ts";

export const storeCopyCommand: Command = {
  name: "store copy",
  summary: "copy the whole store into an empty one",
  details:
    'Addresses: "sqlite" for the store in the data folder, a folder for a SQLite store there, "postgres" for the database in store.address or ASYNCAGENTS_STORE, or postgres://… Other users of the machine can see the words of a command, so prefer "postgres" if the address has a password. Stop everything that uses the stores first. Both sides are compared at the end. The source is not changed; a copy that was interrupted cannot be opened, and is made anew by the same command.',
  operands: [{ name: "from" }, { name: "to", completes: "directory" }],
  examples: ["asyncagents store copy sqlite postgres", "asyncagents store copy sqlite /mnt/disk/asyncagents"],
  run: copy,
};

async function copy(invocation: Invocation): Promise<number> {
  const { screen, signal, arguments: given } = invocation;
  const from = addressOf(invocation, given.operand(0));
  const to = addressOf(invocation, given.operand(1));
  if (from.shown === to.shown) throw new AsyncAgentsError("invalid_input", "Name two different stores.");
  const { copyStore } = await import("../../store/copying/copy-store.ts");
  let progress: CopyProgress = { step: "copying", table: "", rows: 0 };
  const onProgress = (next: CopyProgress) => {
    progress = next;
  };
  const copying = copyStore({ from, to, id: crypto.randomUUID(), signal, onProgress });
  const text = () => `${progress.step} ${progress.table}: ${progress.rows.toLocaleString("en")} rows`;
  const tables = await screen.during(text, copying);
  show(screen, { from, to, tables });
  return EXIT.ok;
}

function show(
  screen: Invocation["screen"],
  { from, to, tables }: { from: CopyAddress; to: CopyAddress; tables: CopiedTable[] },
): void {
  const shown = tables.map(({ name, rows, checksum }) => ({ name, rows, checksum }));
  screen.show({ from: from.shown, to: to.shown, tables: shown }, () => {
    screen.line(`Copied ${from.shown} to ${to.shown}. Rows and checksums are the same on both sides:`);
    const widest = Math.max(...tables.map(({ name }) => name.length));
    for (const { name, rows, checksum } of shown) {
      screen.line(`  ${padTo(name, widest)}  ${rows.toLocaleString("en").padStart(11)}  ${checksum}`);
    }
    const setting = "directory" in to ? `ASYNCAGENTS_HOME=${to.directory}` : "ASYNCAGENTS_STORE to its address";
    screen.hint(`To use it, set ${setting} for every program that uses the store. The source was not changed.`);
  });
}

/** What it says about a wrong address contains no part of it: there may be a password in it. */
function addressOf({ directory, cwd, configuration }: Invocation, text: string): CopyAddress {
  if (text === "sqlite") return { directory, shown: directory };
  if (text === "postgres") {
    const setting = storeSetting(configuration().store);
    if (setting !== null) return setting;
    throw new AsyncAgentsError(
      "invalid_input",
      "ASYNCAGENTS_STORE is not set, and neither is store.address in asyncagents.json. Set one of them to the address of the database.",
    );
  }
  if (!text.includes(":")) {
    const folder = resolve(cwd, text);
    return { directory: folder, shown: folder };
  }
  const setting = postgresAddress(text);
  if ("problem" in setting) throw new AsyncAgentsError("invalid_input", `One of the addresses ${setting.problem}.`);
  return setting;
}
