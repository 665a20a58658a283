/**
 * The event stream on the wire: the snapshot that it starts with. `task-event-names.ts` names the events after it. No
 * behaviour.
 */
import { z } from "zod";
import { wholeCount } from "./fields.ts";
import { statusOperation } from "./operation.ts";
import { wholeNumber } from "./query-fields.ts";
import { statsSchema } from "./statistics.ts";
import { taskSchema } from "./tasks.ts";

export const snapshotSchema = z.object({
  tasks: z.array(taskSchema).describe("newest first"),
  total: wholeCount,
  truncated: z.boolean().describe("true: only the live and the newest; page through /v1/tasks for the rest"),
  stats: statsSchema,
});

export type TaskSnapshot = z.infer<typeof snapshotSchema>;

export const eventOperations = {
  events: statusOperation({
    title: "A snapshot, then every change as a server-sent event",
    role: "read",
    input: z.object({
      every: wholeNumber
        .optional()
        .describe(
          "milliseconds: changes are sent at most so often, together; of the updates of a task in between only the newest",
        ),
    }),
    output: snapshotSchema,
    isStream: true,
    errors: ["invalid_input"],
  }),
};
