/**
 * Migration 21: budgets and the tasks that count in them. Never edited once released.
 */
import { type Kysely, sql } from "kysely";
import type { Dialect } from "../database.ts";
import type { Schema } from "../schema.ts";

const LIMITS = ["limit_tokens", "limit_cost", "limit_ms", "limit_tasks"] as const;
const SUMS = [
  "spent_tokens",
  "spent_cost",
  "spent_ms",
  "reserved_tokens",
  "reserved_cost",
  "reserved_ms",
  "largest_tokens",
  "largest_cost",
  "tasks",
  "live",
  "flying",
  "unpriced",
] as const;

export async function budgetTables(kysely: Kysely<Schema>, dialect: Dialect): Promise<void> {
  const id = dialect === "postgres" ? sql`text collate "C"` : ("text" as const);
  const number = dialect === "postgres" ? ("double precision" as const) : ("real" as const);
  let budgets = kysely.schema.createTable("budgets").addColumn("id", id, (column) => column.primaryKey());
  for (const name of LIMITS) budgets = budgets.addColumn(name, number);
  for (const name of SUMS) budgets = budgets.addColumn(name, number, (column) => column.notNull());
  await budgets
    .addColumn("warned_at", number)
    .addColumn("used_up_at", number)
    .addColumn("set_by", "text", (column) => column.notNull())
    .addColumn("set_at", number, (column) => column.notNull())
    .execute();
  await kysely.schema
    .createTable("task_budgets")
    .addColumn("task_id", id, (column) => column.notNull())
    .addColumn("budget_id", id, (column) => column.notNull())
    .addColumn("rank", number, (column) => column.notNull())
    .addColumn("flying", number, (column) => column.notNull())
    .addPrimaryKeyConstraint("task_budgets_key", ["task_id", "budget_id"])
    .execute();
  const index = (name: string) => kysely.schema.createIndex(name);
  await index("task_budgets_by_budget").on("task_budgets").columns(["budget_id", "task_id"]).execute();
  await index("budgets_in_use").on("budgets").columns(["set_at"]).where(sql.ref("live"), ">", sql.lit(0)).execute();
  await index("budgets_used_up")
    .on("budgets")
    .columns(["used_up_at"])
    .where(sql.ref("used_up_at"), "is not", null)
    .execute();
}
