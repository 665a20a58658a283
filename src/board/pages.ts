/**
 * Pagination on the wire: a cursor encodes the last row's position in the order and is opaque to callers. Stateless.
 */
import { AsyncAgentsError } from "../model/errors.ts";
import type { BoardPage, PageStart } from "../store/board/records.ts";
import { isUuid } from "./uuid.ts";

const ROWS = 50;

interface PageInput {
  limit?: number | undefined;
  cursor?: string | undefined;
}

export function limitOf({ limit }: PageInput): number {
  return limit ?? ROWS;
}

/** Fetches one row more than is shown, to detect the last page. */
export function pageOf(input: PageInput): BoardPage {
  return { limit: limitOf(input) + 1, after: input.cursor === undefined ? null : keyOf(input.cursor) };
}

/** The rows to show, and the cursor of the next page. */
export function shown<Row extends PageStart>(rows: Row[], input: PageInput): { rows: Row[]; next: string | null } {
  const page = rows.slice(0, limitOf(input));
  const last = page.at(-1);
  return { rows: page, next: rows.length > page.length && last ? `${last.createdAt}_${last.id}` : null };
}

function keyOf(cursor: string): PageStart {
  const [, at = "", id = ""] = /^(\d{1,16})_(.+)$/.exec(cursor) ?? [];
  if (at !== "" && isUuid(id)) return { createdAt: Number(at), id: id.toLowerCase() };
  const message = "cursor must be the next_cursor of an earlier answer. Leave it out for the first page.";
  throw new AsyncAgentsError("invalid_input", message, { details: { field: "cursor" } });
}
