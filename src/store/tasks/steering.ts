/**
 * Steering messages on a database, written in the transactions of their tasks' events: an event about one changes its
 * row and nothing else, and the end of a run settles what was not delivered. `src/model/steering.ts` decides the state.
 */
import type { Insertable, Kysely, Updateable } from "kysely";
import { AsyncAgentsError } from "../../model/errors.ts";
import type { TaskEvent } from "../../model/events.ts";
import {
  BEGAN_AGAIN,
  ENDED_FIRST,
  MAX_STEERING,
  type SteeringEvent,
  type SteeringMessage,
  type SteeringState,
  steered,
} from "../../model/steering.ts";
import type { Task } from "../../model/task.ts";
import { preparedQuery } from "../compiled-query.ts";
import type { RowOf, Schema } from "../schema.ts";

type Row = RowOf<"steering">;

/** False if the event does not fit the message's state: then nothing is written. */
export async function applySteering(kysely: Kysely<Schema>, taskId: string, event: SteeringEvent): Promise<boolean> {
  const [row] = await selectMessage(kysely, { id: event.id });
  const known = row === undefined ? null : steeringOf(row);
  const message = known !== null && known.taskId !== taskId ? null : steered(known, taskId, event);
  if (message === null) return false;
  if (known !== null) {
    await updateMessage(kysely, changingColumns(message));
    return true;
  }
  const number = (await selectRun(kysely, { taskId, run: event.run })).length;
  if (number >= MAX_STEERING) {
    const text = `The run of task ${taskId} was sent ${MAX_STEERING} messages already. Wait for its end, then resume it.`;
    throw new AsyncAgentsError("too_many_requests", text);
  }
  const { run, text, by: said_by, acceptedAt: accepted_at } = message;
  await insertMessage(kysely, {
    task_id: taskId,
    run,
    number,
    text,
    said_by,
    accepted_at,
    ...changingColumns(message),
  });
  return true;
}

/** What a run that ends, or begins again in another session, did not take up. */
export async function settleSteering(kysely: Kysely<Schema>, { id: taskId }: Task, event: TaskEvent): Promise<void> {
  const settle = (state: "accepted" | "sent", reason: string) =>
    failOpen(kysely, { taskId, state, reason, at: event.at });
  if (event.type === "run.requeued") await settle("sent", BEGAN_AGAIN);
  else if (event.type === "run.completed" || event.type === "run.failed" || event.type === "run.cancelled") {
    await settle("accepted", ENDED_FIRST.accepted);
    await settle("sent", ENDED_FIRST.sent);
  }
}

export async function readSteering(kysely: Kysely<Schema>, taskId: string, run?: number): Promise<SteeringMessage[]> {
  const rows = run === undefined ? await selectNewest(kysely, { taskId }) : await selectRun(kysely, { taskId, run });
  return (run === undefined ? rows.toReversed() : rows).map(steeringOf);
}

export async function readSteeringMessage(kysely: Kysely<Schema>, id: string): Promise<SteeringMessage | null> {
  const [row] = await selectMessage(kysely, { id });
  return row === undefined ? null : steeringOf(row);
}

const selectMessage = preparedQuery<{ id: string }, Row>((kysely, { id }) =>
  kysely.selectFrom("steering").selectAll().where("id", "=", id),
);

const selectRun = preparedQuery<{ taskId: string; run: number }, Row>((kysely, { taskId, run }) =>
  kysely
    .selectFrom("steering")
    .selectAll()
    .where("task_id", "=", taskId)
    .where("run", "=", run)
    .orderBy("number")
    .limit(MAX_STEERING),
);

const selectNewest = preparedQuery<{ taskId: string }, Row>((kysely, { taskId }) =>
  kysely
    .selectFrom("steering")
    .selectAll()
    .where("task_id", "=", taskId)
    .orderBy("run", "desc")
    .orderBy("number", "desc")
    .limit(MAX_STEERING),
);

const insertMessage = preparedQuery<Insertable<Schema["steering"]>>((kysely, row) =>
  kysely.insertInto("steering").values(row),
);

const updateMessage = preparedQuery<{ id: string } & Updateable<Schema["steering"]>>((kysely, { id, ...changes }) =>
  kysely.updateTable("steering").set(changes).where("id", "=", id),
);

const failOpen = preparedQuery<{ taskId: string; state: string; reason: string; at: number }>(
  (kysely, { taskId, state, reason, at }) =>
    kysely
      .updateTable("steering")
      .set({ state: "failed", reason, settled_at: at })
      .where("task_id", "=", taskId)
      .where("state", "=", state),
);

function changingColumns({ id, state, messageId, reason, sentAt, settledAt }: SteeringMessage) {
  return { id, state, message_id: messageId, reason, sent_at: sentAt, settled_at: settledAt };
}

export function steeringOf(row: Row): SteeringMessage {
  const { id, text, reason } = row;
  const times = { acceptedAt: row.accepted_at, sentAt: row.sent_at, settledAt: row.settled_at };
  const state = row.state as SteeringState;
  return {
    id,
    taskId: row.task_id,
    run: row.run,
    text,
    by: row.said_by,
    state,
    messageId: row.message_id,
    reason,
    ...times,
  };
}
