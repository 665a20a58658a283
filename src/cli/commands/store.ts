/**
 * `store`: information about the store, the backups of its file, and restoring one. Works without a daemon. A
 * PostgreSQL database is backed up by its own tools.
 */
import { existsSync, statSync } from "node:fs";
import type { Configuration } from "../../configuration/sections.ts";
import { troublesIn } from "../../engine/watching/troubles.ts";
import { AsyncAgentsError } from "../../model/errors.ts";
import type { Backup } from "../../store/sqlite-files/backups.ts";
import { type PostgresSetting, storeSetting } from "../../store/store-setting.ts";
import type { Command, Invocation } from "../command.ts";
import { EXIT } from "../exit-codes.ts";
import { warnOfOwnStore } from "../other-store.ts";
import { assertPerson } from "../person-only.ts";
import type { Screen } from "../terminal/screen.ts";
import { ago, quantity } from "../terminal/text.ts";
import { storeCopyCommand } from "./store-copy.ts";

const statusCommand: Command = {
  name: "store status",
  summary: "show where the store is, its backups, and whether it was damaged",
  examples: ["asyncagents store status"],
  async run(invocation) {
    const { directory, screen, configuration } = invocation;
    const postgres = storeSetting(configuration().store);
    warnOfOwnStore(invocation);
    if (postgres !== null) return showPostgres(postgres, screen);
    const { backupsIn, storeFileOf } = await import("../../store/sqlite-files/backups.ts");
    const file = storeFileOf(directory);
    // Recent changes stay in the write-ahead log until SQLite checkpoints them.
    const sizes = [file, `${file}-wal`].flatMap((each) => statSync(each, { throwIfNoEntry: false })?.size ?? []);
    const bytes = existsSync(file) ? sizes.reduce((sum, size) => sum + size, 0) : null;
    const backups = backupsIn(directory);
    const troubles = troublesIn(directory);
    screen.show({ file, bytes, backups: backups.map(shown), troubles }, () => {
      screen.line(`${file}  ${bytes === null ? "(created at first use)" : sizeText(bytes)}`);
      for (const { message } of troubles) screen.line(`${screen.paint.red("✗")} ${message}`);
      if (backups.length === 0)
        screen.line("No backups yet. The daemon makes one a day. Make one now: asyncagents store backup");
      for (const backup of backups) {
        screen.line(`  ${backup.name}  ${sizeText(backup.bytes)}  ${ago(timeOf(backup), Date.now())}`);
      }
    });
    return EXIT.ok;
  },
};

const backupCommand: Command = {
  name: "store backup",
  summary: "make a backup of the store now",
  details: "The daemon makes one a day. The newest seven are kept, in backups/ in the data folder.",
  examples: ["asyncagents store backup"],
  async run(invocation) {
    const { directory, screen, configuration } = invocation;
    refuseOnPostgres(configuration());
    warnOfOwnStore(invocation);
    const { makeBackup } = await import("../../store/sqlite-files/backups.ts");
    const backup = makeBackup(directory, Date.now());
    screen.show(shown(backup), () => screen.line(`${backup.file}  ${sizeText(backup.bytes)}`));
    return EXIT.ok;
  },
};

const restoreCommand: Command = {
  name: "store restore",
  summary: "restore the store from a backup",
  details:
    "Restores the newest backup if none is named. The current store is kept under another name. Stop the daemon and every OpenCode with the plugin first.",
  operands: [{ name: "backup", optional: true }],
  options: { yes: { short: "y", summary: "restore it; without this, only show what would be done" } },
  examples: ["asyncagents store status", "asyncagents down && asyncagents store restore --yes"],
  run: restore,
};

const dismissCommand: Command = {
  name: "store dismiss",
  summary: "hide the message that the store was damaged",
  async run({ directory, screen }) {
    const { dismissDamageReport } = await import("../../store/sqlite-files/damage-report.ts");
    const dismissed = dismissDamageReport(directory);
    screen.show({ dismissed }, () =>
      screen.line(dismissed ? "Dismissed." : "Nothing to dismiss: no damage is reported."),
    );
    return EXIT.ok;
  },
};

export const STORE_COMMANDS: readonly Command[] = [
  statusCommand,
  backupCommand,
  restoreCommand,
  storeCopyCommand,
  dismissCommand,
];

async function showPostgres(postgres: PostgresSetting, screen: Screen): Promise<number> {
  const { postgresSummary } = await import("../../store/postgres/summary.ts");
  const summary = await postgresSummary(postgres);
  const { shown: address } = postgres;
  screen.show({ postgres: address, schemaVersion: summary?.schemaVersion ?? null, tasks: summary?.tasks ?? null }, () =>
    screen.line(
      summary === null
        ? `${address}  (created at first use)`
        : `${address}  schema ${summary.schemaVersion}, ${quantity(summary.tasks, "task")}`,
    ),
  );
  return EXIT.ok;
}

function refuseOnPostgres({ store }: Configuration): void {
  const postgres = storeSetting(store);
  if (postgres === null) return;
  const message = `The tasks are in PostgreSQL (${postgres.shown}): use its own tools, such as pg_dump and pg_restore.`;
  throw new AsyncAgentsError("invalid_input", message);
}

async function restore(invocation: Invocation): Promise<number> {
  const { directory, screen, configuration, arguments: given } = invocation;
  assertPerson(invocation, "put back a backup");
  refuseOnPostgres(configuration());
  const { restoreBackup } = await import("../../store/sqlite-files/restore.ts");
  const backup = await chosenBackup(directory, given.operands[0]);
  if (!given.flag("yes")) {
    const what = `This would put ${backup.name} (${ago(timeOf(backup), Date.now())}) in place of the store, and keep the current one under another name.`;
    screen.show({ backup: shown(backup), restored: false }, () => {
      screen.line(what);
      screen.line(`Everything since then would be missing. To do it: asyncagents store restore ${backup.name} --yes`);
    });
    return EXIT.ok;
  }
  const { setAside } = restoreBackup(directory, backup);
  screen.show({ backup: shown(backup), restored: true, setAside }, () => {
    screen.line(`Restored ${backup.name}.${setAside === null ? "" : ` The previous store is kept as ${setAside}.`}`);
  });
  return EXIT.ok;
}

async function chosenBackup(directory: string, name: string | undefined): Promise<Backup> {
  const { backupsIn } = await import("../../store/sqlite-files/backups.ts");
  const backups = backupsIn(directory);
  const found = name === undefined ? backups[0] : backups.find((backup) => backup.name === name);
  if (found) return found;
  const message =
    backups.length === 0
      ? "There is no backup to restore."
      : `There is no backup "${name}". See: asyncagents store status`;
  throw new AsyncAgentsError("invalid_input", message);
}

function shown({ name, file, at, bytes }: Backup) {
  return { name, file, at: timeOf({ at }), bytes };
}

function timeOf({ at }: Pick<Backup, "at">): string {
  return new Date(at).toISOString();
}

function sizeText(bytes: number): string {
  return bytes < 1_048_576 ? `${Math.ceil(bytes / 1024)} kB` : `${(bytes / 1_048_576).toFixed(1)} MB`;
}
