/**
 * Launches whose session is not known yet, so that a crash between calling a host and storing the task can be
 * recovered. A row is removed when the task is stored. Does not decide what happens to an abandoned launch.
 */
import type { Kysely } from "kysely";
import { preparedQuery } from "../compiled-query.ts";
import type { RowOf, Schema } from "../schema.ts";
import type { Launch } from "../store.ts";

const COLUMNS = [
  "id",
  "owner",
  "at",
  "parent_session_id",
  "parent_message_id",
  "parent_agent",
  "host",
  "directory",
  "description",
  "prompt",
  "message_id",
  "agent",
  "model",
  "batch_id",
  "is_forked",
  "machine",
  "wake",
] as const;

export async function addLaunch(kysely: Kysely<Schema>, launch: Launch): Promise<void> {
  await kysely.insertInto("launches").values(launchRow(launch)).execute();
}

/** False if there is no such launch, or `by` is not its owner, which is registered. */
export async function removeLaunch(kysely: Kysely<Schema>, id: string, by?: string): Promise<boolean> {
  let removing = kysely.deleteFrom("launches").where("id", "=", id);
  if (by !== undefined) {
    removing = removing.where((row) =>
      row.or([
        row("owner", "=", by),
        row.not(
          row.exists(
            row.selectFrom("instances").select("instances.id").whereRef("instances.id", "=", "launches.owner"),
          ),
        ),
      ]),
    );
  }
  return (await removing.returning("id").executeTakeFirst()) !== undefined;
}

export async function readLaunches(kysely: Kysely<Schema>, after?: Pick<Launch, "at" | "id">): Promise<Launch[]> {
  const rows = after ? await selectAfter(kysely, { at: after.at, id: after.id }) : await selectFirst(kysely, {});
  return rows.map(launchOf);
}

const selectFirst = preparedQuery<object, RowOf<"launches">>((kysely) => selectLaunches(kysely));

const selectAfter = preparedQuery<{ at: number; id: string }, RowOf<"launches">>((kysely, { at, id }) =>
  selectLaunches(kysely).where((row) => row.or([row("at", ">", at), row("at", "=", at).and("id", ">", id)])),
);

function selectLaunches(kysely: Kysely<Schema>) {
  return kysely.selectFrom("launches").select(COLUMNS).orderBy("at").orderBy("id").limit(200);
}

function launchRow(launch: Launch): RowOf<"launches"> {
  return {
    id: launch.id,
    owner: launch.owner,
    at: launch.at,
    parent_session_id: launch.parentSessionId,
    parent_message_id: launch.parentMessageId,
    parent_agent: launch.parentAgent,
    host: launch.host,
    directory: launch.directory,
    description: launch.description,
    prompt: launch.prompt,
    message_id: launch.messageId,
    agent: launch.agent,
    model: launch.model,
    batch_id: launch.batchId,
    is_forked: launch.isForked ? 1 : 0,
    machine: launch.machine,
    wake: launch.wake ?? "each",
  };
}

function launchOf(row: RowOf<"launches">): Launch {
  return {
    id: row.id,
    owner: row.owner,
    at: row.at,
    parentSessionId: row.parent_session_id,
    parentMessageId: row.parent_message_id,
    parentAgent: row.parent_agent,
    host: row.host,
    directory: row.directory,
    description: row.description,
    prompt: row.prompt,
    messageId: row.message_id,
    agent: row.agent,
    model: row.model,
    batchId: row.batch_id,
    isForked: row.is_forked === 1,
    machine: row.machine,
    wake: row.wake as Launch["wake"],
  };
}
