/** The transcripts on a database. Bounded by those who write them. */
import type { Kysely } from "kysely";
import type { Schema } from "../schema.ts";
import { lock } from "../sql/lock.ts";
import { together } from "../sql/together.ts";
import type { Transcript, TranscriptKind, TranscriptRecords } from "./records.ts";

type Run = <T>(work: (kysely: Kysely<Schema>) => Promise<T>) => Promise<T>;

export function kyselyTranscripts({ read, write }: { read: Run; write: Run }): TranscriptRecords {
  return {
    put: (transcript) => write((kysely) => putTranscript(kysely, transcript)),
    get: (taskId, kind) => read((kysely) => readTranscript(kysely, taskId, kind)),
  };
}

/** Only for a task that exists: it may have been removed since its run ended, or is being removed now. */
async function putTranscript(kysely: Kysely<Schema>, { taskId, ...transcript }: Transcript): Promise<void> {
  const [, task] = await together([
    lock(kysely, "task", taskId),
    kysely.selectFrom("tasks").select("id").where("id", "=", taskId).executeTakeFirst(),
  ]);
  if (task === undefined) return;
  const { kind, ...fields } = transcript;
  await kysely
    .insertInto("transcripts")
    .values({ task_id: taskId, kind, ...fields })
    .onConflict((conflict) =>
      conflict.columns(["task_id", "kind"]).doUpdateSet(fields).where("transcripts.run", "<=", fields.run),
    )
    .execute();
}

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
