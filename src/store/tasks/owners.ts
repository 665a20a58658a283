/**
 * Who owns live tasks: a few instances, however many tasks there are. An ended task has no owner. Reads each owner by
 * one lookup in the index of owners, and not the tasks.
 */
import { type Kysely, sql } from "kysely";
import type { Task } from "../../model/task.ts";
import { preparedQuery } from "../compiled-query.ts";
import type { Schema } from "../schema.ts";
import { type TaskRow, taskOf, taskRowColumns, withNewestRun } from "./rows.ts";

const MOST_OWNERLESS = 200;

export async function readOwners(kysely: Kysely<Schema>): Promise<string[]> {
  return (await selectOwners(kysely, {})).map(({ owner }) => String(owner));
}

const selectOwners = preparedQuery<object, { owner: string | null }>((kysely) =>
  kysely
    .withRecursive("owners(owner)", (outer) =>
      outer
        .selectFrom("tasks")
        .select(({ fn }) => fn.min("owner").as("owner"))
        .where("owner", "is not", null)
        .unionAll((next) =>
          next
            .selectFrom("owners")
            .select((row) =>
              row
                .selectFrom("tasks")
                .select(({ fn }) => fn.min("tasks.owner").as("owner"))
                .where("tasks.owner", ">", sql.ref<string>("owners.owner"))
                .as("owner"),
            )
            .where("owners.owner", "is not", null),
        ),
    )
    .selectFrom("owners")
    .select("owner")
    .where("owner", "is not", null),
);

/** Live tasks that have no owner and do not wait for a runner, oldest first. Nobody writes such tasks any more. */
export async function readOwnerless(kysely: Kysely<Schema>): Promise<Task[]> {
  return (await selectOwnerless(kysely, {})).map(taskOf);
}

const selectOwnerless = preparedQuery<object, TaskRow>((kysely) =>
  withNewestRun(kysely.selectFrom("tasks"))
    .select(taskRowColumns(null))
    // As in the index, literally: that lets SQLite choose it.
    .where(sql<boolean>`tasks.live = 1 and tasks.owner is null and tasks.session_id <> ''`)
    .orderBy("tasks.started_at")
    .limit(MOST_OWNERLESS),
);
