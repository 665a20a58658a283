/**
 * How a launched task ended, for programs that are told about it: the MCP server, for clients that follow a launch as an
 * MCP task. A handle is what the launch answered with: that of a task, or the id of an attempt. No behaviour.
 */
import { z } from "zod";
import { text, time } from "../fields.ts";
import { boardOperation } from "../operation.ts";

const handle = text("A launched task, or an attempt", 200);

export const endOperations = {
  read_end: boardOperation({
    title: "Read how a launch ended",
    role: "read",
    description: "Says how the first run of a launched task or of an attempt ended, or that it has not.",
    readOnly: true,
    input: z.object({ handle }),
    output: z.object({
      handle,
      status: z.enum(["working", "completed", "failed", "cancelled"]).describe("How it stands"),
      message: z.string().describe("What it does, or how it ended, in a line"),
      created_at: time("When it was launched"),
      updated_at: time("When something last happened"),
      answer: z.record(z.string(), z.unknown()).describe("As the tool that launched it answers, and what came of it"),
      error: z.string().nullable().describe("Why it failed or was cancelled; null otherwise"),
    }),
  }),
  stop_launch: boardOperation({
    title: "Stop a launched task",
    role: "launch",
    description: "Cancels a launched task, or the work on an attempt. One that has ended stays as it is.",
    destructive: true,
    idempotent: true,
    stopsAgent: true,
    input: z.object({ handle }),
    output: z.object({ handle }),
  }),
};
