/**
 * What can run agents, on the wire: the operation that lists the executors. No behaviour.
 */
import { z } from "zod";
import { executor, text } from "../fields.ts";
import { boardOperation } from "../operation.ts";

export const executorOperations = {
  list_executors: boardOperation({
    title: "List executors",
    role: "launch",
    description: "Lists what can run agents here, and the agents (variants) of each.",
    toolset: "extended",
    readOnly: true,
    input: z.object({
      directory: text(
        "Agents as seen from this folder, an absolute path; where no person has approved it, and when absent, those that are known already",
        4096,
      ).optional(),
    }),
    output: z.object({
      executors: z
        .array(
          z.object({
            executor: executor("The name to give as executor"),
            available: z.boolean().describe("True when it can be used on this machine"),
            problem: z.string().nullable().describe("Why not, and what to do; null when it is available"),
            default_variant: z
              .string()
              .nullable()
              .describe("The agent that runs when none is named; null for the program's own"),
            variants: z.array(z.string()).describe("The agents that can be named as variant"),
            limits: z.array(z.string()).describe("What it cannot do"),
          }),
        )
        .describe("Also those that are not available"),
    }),
  }),
};
