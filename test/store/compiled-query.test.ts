import { expect, test } from "bun:test";
import { join } from "node:path";
import { sql } from "kysely";
import { compiledOnce } from "../../src/store/compiled-query.ts";
import { sqliteDatabase } from "../../src/store/sqlite/sqlite-database.ts";
import { temporaryFolders } from "./temporary-folder.ts";

const temporaryFolder = temporaryFolders();

test("a shape is compiled once; of more than a hundred, the oldest makes room for the newest", async () => {
  const database = await sqliteDatabase({ file: join(temporaryFolder(), "asyncagents.db") });
  const built: number[] = [];
  const query = compiledOnce<number, null, unknown>((kysely, shape) => {
    built.push(shape);
    return kysely.selectNoFrom(sql.lit(shape).as("shape"));
  });
  await database.read(async (kysely) => {
    const builtBy = (shapes: number[]) => {
      built.length = 0;
      for (const shape of shapes) expect(query(kysely, shape, null).sql).toContain(`select ${shape} as`);
      return [...built];
    };
    const hundred = Array.from({ length: 100 }, (_, shape) => shape);
    expect(builtBy(hundred)).toEqual(hundred);
    expect(builtBy(hundred)).toEqual([]);
    expect(builtBy([100])).toEqual([100]);
    expect(builtBy([100, ...hundred.slice(1)])).toEqual([]);
    expect(builtBy([0])).toEqual([0]);
  });
  await database.close();
});
