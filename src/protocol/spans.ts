/** What runs spent their time on, on the wire: tool calls, and the times in which nothing worked. No behaviour. */
import { z } from "zod";
import { MOST_WORK_SPANS, SPAN_KINDS } from "../model/live-run/work-spans.ts";
import { isoTime, milliseconds, wholeCount } from "./fields.ts";
import { statusOperation } from "./operation.ts";
import { filter, wholeNumber } from "./query-fields.ts";

const spanSchema = z.object({
  kind: z
    .enum(SPAN_KINDS)
    .describe("call: of a tool. In the others nothing works: it has not started, waits for a person, and so on"),
  name: z.string().nullable().describe("the tool; null if there is none, or the calls were of several"),
  at: milliseconds.describe("after the start of the run"),
  ms: milliseconds.nullable().describe("how long it is; null if it has not ended, or nobody saw its end"),
  count: wholeCount.describe("how many calls, or times, it stands for: neighbours are merged where there are many"),
  failed: wholeCount.describe("how many of them failed"),
  busyMs: milliseconds.describe("how long they took together: less than ms where there were gaps"),
});

export const runSpansSchema = z.object({
  taskId: z.string(),
  run: wholeCount,
  startedAt: isoTime,
  spans: z.array(spanSchema).describe("by their start"),
});

export type TimelineSpan = z.infer<typeof spanSchema>;
export type TimelineRun = z.infer<typeof runSpansSchema>;

export const spanOperations = {
  spans: statusOperation({
    title: "What the runs of a task or a batch spent their time on: tool calls, waiting, retrying",
    role: "read",
    input: z
      .object({
        task: filter.describe("the runs of this task, newest first; at most 200"),
        group: filter.describe("the runs of this batch, newest first; at most 1,000"),
        most: wholeNumber
          .refine((value) => value >= 10 && value <= MOST_WORK_SPANS, `must be from 10 to ${MOST_WORK_SPANS}`)
          .default(MOST_WORK_SPANS)
          .describe("how many spans a run has at most; fewer where there are more than 100 runs"),
      })
      .refine(({ task, group }) => (task === undefined) !== (group === undefined), "name a task or a group"),
    output: z.array(runSpansSchema),
    errors: ["invalid_input"],
  }),
};
