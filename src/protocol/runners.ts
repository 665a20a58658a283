/** Runners on the wire, and a task's place in their queue. No behaviour. */
import { z } from "zod";
import { isoTime, wholeCount } from "./fields.ts";
import { statusOperation } from "./operation.ts";

const counts = z.record(z.string(), wholeCount).optional();

export const runnerSchema = z.object({
  id: z.string(),
  state: z
    .enum(["running", "draining", "ended", "gone"])
    .describe(
      "draining: it claims nothing more; ended: it said so; gone: it died, or cannot reach the store. The last two are shown for an hour",
    ),
  hostname: z.string(),
  machine: z.string().nullable().describe("null if only one machine uses the store"),
  version: z.string(),
  hosts: z.array(z.string()),
  labels: z.array(z.string()),
  load: wholeCount.describe("how many tasks it has"),
  max: wholeCount.describe("how many it runs at once"),
  limits: z
    .object({ total: wholeCount.optional(), hosts: counts, models: counts, labels: counts })
    .describe("how many tasks of all runners it allows; it claims nothing beyond that"),
  lacks: z
    .array(z.object({ kind: z.enum(["host", "repository"]), name: z.string(), reason: z.string() }))
    .describe("hosts and repositories that it cannot use now, and why"),
  startedAt: isoTime,
  lastBeat: isoTime.describe("when it was last heard of"),
});

export const queuePlaceSchema = z.object({
  machine: z.string().nullable().describe("the only machine that can do it; null if any can"),
  bound: z
    .string()
    .nullable()
    .describe("why only that machine can; null if any can, or only one machine uses the store"),
  remote: z.string().nullable().describe("the repository that runners on other machines clone"),
  commit: z.string().nullable(),
  labels: z.array(z.string()).describe("which a runner must have"),
  priority: z.number(),
  retries: wholeCount,
  waitsFor: z
    .string()
    .nullable()
    .describe("why no runner has claimed it yet, and what to do; null if one is about to begin it"),
  trouble: z.string().nullable().describe("why the last runner that claimed it gave it back"),
});

export type ServerRunner = z.infer<typeof runnerSchema>;

export const runnerOperations = {
  runners: statusOperation({
    title: "The runners of all machines, newest first; at most 1,000",
    role: "read",
    output: z.array(runnerSchema),
  }),
};
