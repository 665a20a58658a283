/**
 * A server of the status API on the wire: its health, its problems, where it can launch, and its errors. No
 * behaviour.
 */
import { z } from "zod";
import { ROLES } from "../model/role.ts";
import { isoTime, wholeCount } from "./fields.ts";
import { statusOperation } from "./operation.ts";
import { filter, listLimit, wholeNumber } from "./query-fields.ts";

export const healthSchema = z.object({
  status: z.literal("ok"),
  uptime: z.number().min(0).describe("seconds"),
  version: z.string(),
  taskCount: wholeCount,
  pid: wholeCount,
});

export const troubleSchema = z.object({
  kind: z.enum(["disk_full", "store_damaged", "notifications_failing"]),
  message: z.string().describe("what is wrong and what to do"),
});

export const instanceSchema = z.object({
  id: z.string(),
  host: z.string(),
  directory: z.string(),
  agents: z.array(z.object({ name: z.string(), description: z.string().nullable() })),
});

export const callerSchema = z.object({
  name: z.string().describe("as the audit log shows it: the token's name, or `local user`"),
  role: z.enum(ROLES).describe("each role includes those before it"),
  door: z.enum(["local", "token"]).describe("local: a program of this machine's user; token: with a token of its own"),
  operations: z.array(z.string()).describe("what the role allows, by name"),
});

export const auditSchema = z.object({
  entries: z
    .array(
      z.object({
        seq: wholeCount,
        at: isoTime,
        by: z.string().describe("a token's name, `local user`, or an agent"),
        operation: z.string(),
        subject: z.string().nullable().describe("the id of what it is about"),
        outcome: z.enum(["started", "done", "failed"]).describe("started: in progress, or its server ended meanwhile"),
      }),
    )
    .describe("newest first; 100,000 are kept, and the oldest of whoever has the most go"),
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
export type ServerCaller = z.infer<typeof callerSchema>;
export type AuditPage = z.infer<typeof auditSchema>;
export type ErrorBody = z.infer<typeof errorSchema>;

export const serverOperations = {
  health: statusOperation({
    title: "Whether the server lives",
    role: "read",
    output: healthSchema,
    access: "open",
  }),
  troubles: statusOperation({
    title: "What a person has to see to: a full disk, a damaged store, notifications that do not arrive",
    role: "read",
    output: z.array(troubleSchema),
  }),
  instances: statusOperation({
    title: "Where this process can launch tasks, with the agents there",
    role: "read",
    output: z.array(instanceSchema),
  }),
  openapi: statusOperation({
    title: "This API as an OpenAPI document",
    role: "read",
    output: z.record(z.string(), z.unknown()),
  }),
  caller: statusOperation({
    title: "Who you are to this server, and what you may do",
    role: "read",
    output: callerSchema,
  }),
  audit: statusOperation({
    title: "Who changed what, newest first",
    role: "read",
    input: z.object({
      subject: filter.describe("the id of a task, an attempt or a work item; all when absent"),
      before: wholeNumber.optional().describe("only entries before this seq"),
      limit: listLimit,
    }),
    output: auditSchema,
    errors: ["invalid_input"],
  }),
  pageToken: statusOperation({
    title: "The token, for this server's own page only",
    role: null,
    output: z.object({ token: z.string() }),
  }),
};
