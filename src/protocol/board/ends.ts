/**
 * How a launched task ended, for programs that are told about it: the MCP server, for clients that follow a launch as
 * an MCP task, and the hooks of Claude Code, for its other sessions. A handle is what the launch answered with: that of
 * a task, or the id of an attempt. No behaviour.
 */
import { z } from "zod";
import { text, time, waitMs } from "../fields.ts";
import { boardOperation } from "../operation.ts";

const handle = text("A launched task, or an attempt", 200);

export const endOperations = {
  read_end: boardOperation({
    title: "Read how a launch ended",
    role: "launch",
    description: "Says how the first run of a launched task or of an attempt ended, or that it has not.",
    isReceipt: true,
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
  follow_launch: boardOperation({
    title: "Be told how a launch ends",
    role: "launch",
    description: "Notes which client launched a task, and how it is told when the task has ended.",
    isReceipt: true,
    input: z.object({
      handle,
      client: text("Who is told", 200),
      way: z.enum(["task", "hook"]).describe("task: it asks with read_end; hook: hooks of its session ask"),
      call: text("The client's own name for the call that launched it", 200).optional(),
    }),
    output: z.object({ handle }),
  }),
  next_ends: boardOperation({
    title: "Wait for ends that a session has to be told",
    role: null,
    description: "For hooks of Claude Code: claims what has ended and was not told yet, or waits for it.",
    isReceipt: true,
    input: z.object({
      session: text("The session of Claude Code", 100),
      process: text("Names the process of Claude Code that started the hook", 100).optional(),
      event: z.enum(["launch", "start", "prompt"]).describe("What the hook was started for"),
      again: z.boolean().optional().describe("True when this hook has asked before"),
      call: text("The call that launched something", 200).optional(),
      handles: z.array(handle).max(20).optional().describe("What that call launched, as far as its answer tells"),
      waited_ms: z.number().min(0).optional().describe("How long the hook has waited; 0 when absent"),
      wait_ms: waitMs,
    }),
    output: z.object({
      claim: z.string().nullable().describe("Names what is to be told now; null if there is nothing"),
      text: z.string().describe("What to tell"),
      waits: z.boolean().describe("Whether there is anything to wait for"),
      unread: z
        .array(
          z.object({
            claim: z.string().describe("As it was named"),
            process: z
              .string()
              .nullable()
              .describe("The process of Claude Code whose hook claimed it; null if unknown"),
            since_ms: z.number().describe("For how long, as far as the daemon knows"),
          }),
        )
        .describe("What was claimed for the session, and is not known to be read: its transcript says more"),
    }),
  }),
  hear_ends: boardOperation({
    title: "Note that ends were told",
    role: null,
    description: "Says that a session has read what was claimed for it, or the results of tasks.",
    isReceipt: true,
    input: z.object({
      claim: text("As next_ends named it", 100).optional(),
      client: text("Who has read how these ended, by itself", 200).optional(),
      handles: z.array(handle).max(50).optional().describe("What it has read"),
      unread: z.boolean().optional().describe("True: what was claimed was not told, and still has to be"),
    }),
    output: z.object({ told: z.boolean().describe("True if that was not known before") }),
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
