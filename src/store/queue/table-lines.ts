/**
 * Lines of waiting runs without anything beside our own table: a run waits while its row says so. For a database with
 * one writer at a time.
 */
import type { Lines } from "./lines.ts";

export const tableLines: Lines = {
  async open() {},
  newTicket: () => "",
  async add() {},
  async take(kysely, line, count) {
    const rows = await kysely
      .selectFrom("queued_runs")
      .select("task_id")
      .where("line", "=", line)
      .where("state", "=", "waiting")
      .orderBy("priority", "desc")
      .orderBy("seq")
      .limit(count)
      .execute();
    return { taskIds: rows.map(({ task_id }) => task_id), isRemoved: Promise.resolve() };
  },
  async remove() {},
  async close() {},
};
