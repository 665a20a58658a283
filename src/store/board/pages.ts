/**
 * Pages of the board's lists: after a key, in a stable order. Bounded; counts and skips nothing.
 */
import { type Expression, type SqlBool, sql } from "kysely";
import { clamp } from "../clamp.ts";
import type { BoardPage } from "./records.ts";

const MOST = 201;

export function pageLimit({ limit }: BoardPage): number {
  return clamp(limit, 50, MOST);
}

/**
 * The condition for what comes after the page's key. The first part is a range of the index; the second excludes
 * earlier entries of the same millisecond.
 */
export function afterKey(table: string, { after }: BoardPage, order: "oldest" | "newest"): Expression<SqlBool>[] {
  if (after === null) return [];
  const [at, id] = [sql.ref(`${table}.created_at`), sql.ref(`${table}.id`)];
  const { createdAt } = after;
  return order === "newest"
    ? [sql<boolean>`${at} <= ${createdAt}`, sql<boolean>`(${at} < ${createdAt} or ${id} > ${after.id})`]
    : [sql<boolean>`${at} >= ${createdAt}`, sql<boolean>`(${at} > ${createdAt} or ${id} > ${after.id})`];
}
