/**
 * Imports an earlier tasks.json into a store that never held a task, or that was rebuilt after damage and may lack
 * some, in one transaction and through events, so that replay stays correct. Imported tasks cause no notices. A damaged
 * file is set aside, never lost.
 */
import { copyFileSync, existsSync, readFileSync, rmSync } from "node:fs";
import type { Kysely } from "kysely";
import { messageOf } from "../../model/errors.ts";
import type { Task } from "../../model/task.ts";
import type { LineLog } from "../../process/log.ts";
import type { Database } from "../database.ts";
import { readLastSeq } from "../feed.ts";
import { readMeta, removeMeta } from "../meta.ts";
import { recountTotals } from "../migrations/2-status.ts";
import type { Schema } from "../schema.ts";
import { REBUILT } from "../sqlite-files/rebuild.ts";
import { applyEvent } from "../tasks/writes.ts";
import { tasksOf } from "./entries.ts";

export async function importTasksJson(database: Database, file: string, log: LineLog): Promise<void> {
  if (!(await database.read(wantsImport))) return;
  const now = Date.now();
  const { tasks, sound } = existsSync(file) ? readTasks(file, now) : { tasks: [], sound: true };
  const first = await database.write(async (kysely) => {
    if (!(await wantsImport(kysely))) return false;
    if (await removeMeta(kysely, REBUILT)) await recountTotals(kysely, database.dialect);
    // An existing task is unchanged: `transition` refuses to import it again.
    for (const task of tasks) await applyEvent(kysely, task.id, { type: "task.imported", at: now, task });
    // Copied before the commit and removed after it: a crash in between loses neither the file nor the tasks.
    if (!sound) setAside(file, now, log);
    return true;
  });
  if (!first) return;
  if (!sound) rmSync(file, { force: true });
  if (tasks.length > 0) log(`store: imported ${tasks.length} tasks from ${file}`);
}

async function wantsImport(kysely: Kysely<Schema>): Promise<boolean> {
  return (await readLastSeq(kysely)) === 0 || (await readMeta(kysely, REBUILT)) !== null;
}

function readTasks(file: string, now: number): { tasks: Task[]; sound: boolean } {
  try {
    return tasksOf(JSON.parse(readFileSync(file, "utf8")), now);
  } catch {
    return { tasks: [], sound: false };
  }
}

function setAside(file: string, now: number, log: LineLog): void {
  const aside = `${file}.damaged-${new Date(now).toISOString().replaceAll(/[:.]/g, "-")}`;
  try {
    copyFileSync(file, aside);
    log(`store: ${file} is damaged and was set aside as ${aside}; what could be read of it was imported`);
  } catch (thrown) {
    log(`store: ${file} is damaged and could not be set aside: ${messageOf(thrown)}`);
  }
}
