/**
 * A server of the status API on the wire: its health, its problems, where it can launch, and its errors. No
 * behaviour.
 */
import { z } from "zod";
import { wholeCount } from "./fields.ts";
import { statusOperation } from "./operation.ts";

export const healthSchema = z.object({
  status: z.literal("ok"),
  uptime: z.number().min(0).describe("seconds"),
  version: z.string(),
  taskCount: wholeCount,
  pid: wholeCount,
});

export const troubleSchema = z.object({
  kind: z.enum(["disk_full", "store_damaged"]),
  message: z.string().describe("what is wrong and what to do"),
});

export const instanceSchema = z.object({
  id: z.string(),
  host: z.string(),
  directory: z.string(),
  agents: z.array(z.object({ name: z.string(), description: z.string().nullable() })),
});

export const errorSchema = z.object({
  error: z.object({
    code: z.string(),
    message: z.string().describe("says what to do next"),
    details: z.record(z.string(), z.unknown()).optional(),
  }),
});

export type ServerTrouble = z.infer<typeof troubleSchema>;
export type Health = z.infer<typeof healthSchema>;
export type ServerInstance = z.infer<typeof instanceSchema>;
export type ErrorBody = z.infer<typeof errorSchema>;

export const serverOperations = {
  health: statusOperation({
    title: "Whether the server lives",
    output: healthSchema,
    access: "open",
  }),
  troubles: statusOperation({
    title: "What keeps the data folder from working: a full disk, a damaged store",
    output: z.array(troubleSchema),
  }),
  instances: statusOperation({
    title: "Where this process can launch tasks, with the agents there",
    output: z.array(instanceSchema),
  }),
  openapi: statusOperation({
    title: "This API as an OpenAPI document",
    output: z.record(z.string(), z.unknown()),
  }),
  pageToken: statusOperation({
    title: "The token, for this server's own page only",
    output: z.object({ token: z.string() }),
  }),
};
