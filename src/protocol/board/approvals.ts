/**
 * What a person has to approve, on the wire: only people may call these operations. No behaviour.
 */
import { z } from "zod";
import { APPROVAL_KINDS, APPROVAL_STATES } from "../../model/approval.ts";
import { count, cursor, limit, nextCursor, text, time, uuid } from "../fields.ts";
import { boardOperation } from "../operation.ts";

const approval = z.object({
  approval_id: uuid("The approval"),
  kind: z
    .enum(APPROVAL_KINDS)
    .describe(
      "setup: run script in each new worktree of the repository in directory; directory: let agents work there",
    ),
  state: z.enum(APPROVAL_STATES).describe("requested: nobody has decided yet; approved; denied"),
  directory: z.string().describe("The repository or the directory, a real path"),
  script: z.string().nullable().describe("The whole script; null for a directory"),
  asked_by: z.string().describe("Who asked"),
  created_at: time("When it was asked"),
  decided_at: time("When a person decided; null before").nullable(),
});

export const approvalOperations = {
  list_approvals: boardOperation({
    title: "List approvals",
    role: "read",
    description:
      "Lists what a person is asked to approve, or has decided, newest first: setup scripts, and directories outside of all projects.",
    peopleOnly: true,
    readOnly: true,
    input: z.object({
      state: z.enum(APPROVAL_STATES).optional().describe("Only those in this state; all when absent"),
      limit: limit(50),
      cursor,
    }),
    output: z.object({
      approvals: z.array(approval).describe("The approvals of this page"),
      count: count("How many are in this page"),
      next_cursor: nextCursor,
    }),
  }),
  decide_approval: boardOperation({
    title: "Approve or deny",
    role: "admin",
    description: "Decides what a person was asked to approve. A decision can be changed later; what has run, has run.",
    peopleOnly: true,
    idempotent: true,
    input: z.object({
      approval_id: uuid("The approval"),
      decision: z.enum(["approve", "deny"]).describe("approve or deny"),
      if_requested: z
        .boolean()
        .optional()
        .describe("True: only if nobody has decided yet; then an opposite decision fails with nothing_asked"),
    }),
    output: z.object({ approval: approval.describe("The approval as it is now") }),
  }),
  allow_directory: boardOperation({
    title: "Allow a directory",
    role: "admin",
    description: "Lets models start agents in a directory outside of all projects, and in all that is below it.",
    peopleOnly: true,
    idempotent: true,
    input: z.object({ directory: text("The directory, an absolute path", 4096) }),
    output: z.object({ approval: approval.describe("The approval as it is now") }),
  }),
};
