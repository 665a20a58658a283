/**
 * Fields that several nouns share. Every field of an operation that models may call has a description: MCP clients
 * show it to their models, and it is the only documentation that these read. No behaviour.
 */
import { z } from "zod";
import { IF_FAILED, MOST_PREDECESSORS } from "../model/after.ts";
import { STATUSES } from "../model/task.ts";
import { EXECUTORS, EXECUTORS_FOR_MODELS } from "./executor-names.ts";

export const TITLE_CHARS = 300;
export const DESCRIPTION_CHARS = 200_000;
export const PROMPT_CHARS = 200_000;
export const EXECUTOR_CHARS = 40;

export const WORK_ITEM_STATUSES = ["todo", "inprogress", "inreview", "done", "cancelled"] as const;
const ATTEMPT_STATES = ["starting", "running", "waiting", "completed", "failed", "stopped", "merged"] as const;
/** The longest time that one call waits; clients give up after a minute. */
const MAX_WAIT_MS = 50_000;

/** The schema has only the format: zod's own pattern would cost 179 bytes per field. The board checks the value. */
export const uuid = (meaning: string) => z.string().meta({ format: "uuid" }).describe(`${meaning} (UUID)`);
export const time = (meaning: string) => z.string().meta({ format: "date-time" }).describe(`${meaning} (RFC3339)`);
export const text = (meaning: string, limit: number) => z.string().max(limit).describe(meaning);
export const count = (meaning: string) => z.number().int().min(0).describe(meaning);

export const status = (meaning: string) => z.enum(WORK_ITEM_STATUSES).describe(meaning);
export const attemptState = (meaning: string) => z.enum(ATTEMPT_STATES).describe(meaning);
/** All executors, and those that models are offered unless the daemon was started with the scripted one. */
export const EXECUTOR_NAMES = choiceOf(EXECUTORS);
export const EXECUTOR_NAMES_FOR_MODELS = choiceOf(EXECUTORS_FOR_MODELS);
export const executor = (meaning: string) => z.string().max(EXECUTOR_CHARS).describe(`${meaning} (${EXECUTOR_NAMES})`);
export const requestId = z
  .string()
  .min(1)
  .max(100)
  .optional()
  .describe(
    "Any name of yours for this call: a second call with the same one gives the first answer and changes nothing",
  );
export const cursor = z
  .string()
  .max(200)
  .optional()
  .describe("next_cursor of the page before; absent for the first page");
export const nextCursor = z.string().nullable().describe("Give it as cursor to read on; null on the last page");
export const limit = (fallback: number) =>
  z.number().int().min(1).max(200).optional().describe(`How many rows at most: 1 to 200, ${fallback} when absent`);
export const waitMs = z
  .number()
  .int()
  .min(0)
  .max(MAX_WAIT_MS)
  .optional()
  .describe(`Wait up to so many milliseconds (0 to ${MAX_WAIT_MS}) until it ends or asks something; 0 when absent`);
/** What a launch can choose for its run besides the agent. */
export const runChoices = {
  model: z
    .string()
    .max(200)
    .optional()
    .describe("The model, as provider/model; of CLAUDE_CODE its name alone will do. The agent's own when absent"),
  max_minutes: z.number().positive().max(100_000).optional().describe("Stop the run after so many minutes of work"),
  max_cost: z.number().positive().max(1_000_000).optional().describe("Stop the run when it has cost so many dollars"),
  budget: z.string().max(200).optional().describe("All that the task may use in its runs, such as $2 30min 500ktok"),
};
/** What a launch can choose when any runner may do it. */
export const queueChoices = z
  .object({
    labels: z.array(z.string().max(64)).max(10).optional().describe("Only a runner that has all of these labels"),
    priority: z.number().int().min(-1000).max(1000).optional().describe("Higher ones first; 0 when absent"),
    retry: z
      .number()
      .int()
      .min(0)
      .max(10)
      .optional()
      .describe("How often it may start again if its runner dies; 0 when absent: the prompt may have had effects"),
  })
  .optional();
/** What a launch can wait for, in the status API. */
export const afterChoices = {
  after: z
    .array(z.string().max(200))
    .max(MOST_PREDECESSORS)
    .optional()
    .describe("ids of tasks: it starts when all of them have ended"),
  ifFailed: z
    .enum(IF_FAILED)
    .optional()
    .describe(
      "if one of them does not complete: skip (it is not run), run_anyway, or wait (a person decides); skip when absent",
    ),
};
export const warnings = (such: string) =>
  z
    .array(z.string())
    .optional()
    .describe(`What a person should know, in sentences: ${such}; absent when there is nothing`);
export const variant = z
  .string()
  .max(200)
  .optional()
  .describe("The executor's agent to use, by its name as list_executors gives it; the executor's default when absent");

/** What an agent waits for. */
export const asked = z
  .object({
    kind: z
      .enum(["permission", "question"])
      .describe("permission: only a person can answer; question: answer_question can"),
    text: z.string().describe("What is asked, the first 2,000 characters"),
  })
  .nullable()
  .describe("What it waits for; null when it waits for nothing");

// Fields of the status API: times are ISO 8601, durations are milliseconds.
export const statusSchema = z.enum(STATUSES);
export const isoTime = z.iso.datetime().describe("ISO 8601, UTC");
export const wholeCount = z.number().int().min(0);
export const milliseconds = z.number().min(0).describe("milliseconds");

function choiceOf(names: readonly string[]): string {
  return [names.slice(0, -1).join(", "), names.at(-1)].join(" or ");
}
