/** The transcripts on a database. Bounded by those who write them. */
import type { Insertable, Kysely } from "kysely";
import { preparedQuery } from "../compiled-query.ts";
import type { Schema } from "../schema.ts";
import { among } from "../sql/among.ts";
import { lockAll } from "../sql/lock.ts";
import { together } from "../sql/together.ts";
import type { Transcript, TranscriptKind, TranscriptRecords } from "./records.ts";

type Run = <T>(work: (kysely: Kysely<Schema>) => Promise<T>) => Promise<T>;

export function kyselyTranscripts({ read, write }: { read: Run; write: Run }): TranscriptRecords {
  return {
    put: (transcripts) => write((kysely) => putTranscripts(kysely, transcripts)),
    get: (taskId, kind) => read((kysely) => readTranscript(kysely, taskId, kind)),
  };
}

/** Only for tasks that exist: they may have been removed since their runs ended, or are being removed now. */
async function putTranscripts(kysely: Kysely<Schema>, transcripts: readonly Transcript[]): Promise<void> {
  const ids = [...new Set(transcripts.map(({ taskId }) => taskId))];
  const [, stored] = await together([
    lockAll(kysely, "task", ids),
    kysely
      .selectFrom("tasks")
      .select("id")
      .where(among(kysely, "id", ids))
      .execute(),
  ]);
  const known = new Set(stored.map(({ id }) => id));
  const rows = transcripts
    .filter(({ taskId }) => known.has(taskId))
    .map(({ taskId, ...fields }) => ({ task_id: taskId, ...fields }));
  await together(rows.map((row) => putTranscript(kysely, row)));
}

const putTranscript = preparedQuery<Insertable<Schema["transcripts"]>>((kysely, row) =>
  kysely
    .insertInto("transcripts")
    .values(row)
    .onConflict((conflict) =>
      conflict
        .columns(["task_id", "kind"])
        .doUpdateSet(({ ref }) => ({
          run: ref("excluded.run"),
          content: ref("excluded.content"),
          at: ref("excluded.at"),
        }))
        .whereRef("transcripts.run", "<=", "excluded.run"),
    ),
);

async function readTranscript(
  kysely: Kysely<Schema>,
  taskId: string,
  kind: TranscriptKind,
): Promise<Transcript | null> {
  const row = await kysely
    .selectFrom("transcripts")
    .select(["run", "content", "at"])
    .where("task_id", "=", taskId)
    .where("kind", "=", kind)
    .executeTakeFirst();
  return row === undefined ? null : { taskId, kind, ...row };
}
