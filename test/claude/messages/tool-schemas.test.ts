import { describe, expect, test } from "bun:test";
import {
  type TaskInput,
  type TaskOutputInput,
  taskInputSchema,
  taskOutputInputSchema,
  taskOutputOutputSchema,
  taskOutputSchema,
  taskStopInputSchema,
  taskStopOutputSchema,
} from "../../../src/claude/messages/tool-schemas.ts";
import { agentDefinitionSchema, checkAgents } from "../../../src/claude/session/agent-definition.ts";

const INPUT: Required<
  Pick<TaskInput, "description" | "prompt" | "subagent_type" | "model" | "resume" | "run_in_background">
> &
  Required<Pick<TaskInput, "max_turns" | "name" | "team_name" | "mode">> = {
  description: "Look",
  prompt: "Look around",
  subagent_type: "analyzer",
  model: "haiku",
  resume: "a1",
  run_in_background: true,
  max_turns: 3,
  name: "looker",
  team_name: "team",
  mode: "plan",
};

describe("the Task tool", () => {
  test("has an input with all fields of the plan, each with its type [CT-05]", () => {
    expect(taskInputSchema.parse(INPUT)).toEqual(INPUT);
    for (const field of Object.keys(INPUT)) {
      const [issue] = taskInputSchema.safeParse({ ...INPUT, [field]: { no: 1 } }).error?.issues ?? [];
      expect(issue?.path).toEqual([field]);
    }
    expect(taskInputSchema.safeParse({ description: "x" }).success).toBe(false);
    expect(taskInputSchema.safeParse({ description: "x", prompt: "y" }).success).toBe(true);
  });

  test("returns the finished work, or a reference to a background task", () => {
    const launched = { agentId: "a", description: "Look", prompt: "p", outputFile: "/o", canReadOutputFile: true };
    const word = { status: "async_launched", ...launched };
    expect<unknown>(taskOutputSchema.parse(word)).toEqual(word);
    expect(taskOutputSchema.safeParse({ status: "of_tomorrow", ...launched }).success).toBe(false);
  });
});

describe("the TaskOutput tool", () => {
  test("has an input of task_id, block and timeout [CT-06]", () => {
    const input: TaskOutputInput = { task_id: "a", block: true, timeout: 5_000 };
    expect(taskOutputInputSchema.parse(input)).toEqual(input);
    for (const field of Object.keys(input)) {
      const [issue] = taskOutputInputSchema.safeParse({ ...input, [field]: undefined }).error?.issues ?? [];
      expect(issue?.path).toEqual([field]);
    }
  });

  test("returns a task or none", () => {
    const output = {
      retrieval_status: "success",
      task: { task_id: "a", task_type: "local_bash", status: "completed" },
    };
    expect<unknown>(taskOutputOutputSchema.parse(output)).toEqual(output);
    expect(taskOutputOutputSchema.safeParse({ retrieval_status: "timeout", task: null }).success).toBe(true);
  });
});

test("the TaskStop tool accepts a task by its id, or by the older name of that field", () => {
  expect(taskStopInputSchema.parse({ shell_id: "b1" })).toEqual({ shell_id: "b1" });
  expect(taskStopOutputSchema.parse({ message: "m", task_id: "b1", task_type: "local_bash" }).task_id).toBe("b1");
});

describe("an agent's definition", () => {
  test("accepts models by short and full name, any other only as a custom one, and no misspelled field", () => {
    const isModel = (model: unknown) =>
      agentDefinitionSchema.safeParse({ description: "d", prompt: "p", model }).success;
    const short = ["opus", "inherit", "opusplan", "best", "default", "sonnet[1m]", "opusplan[1m]"];
    const full = ["claude-opus-5-5", "eu.anthropic.claude-haiku-4", "claude-opus-5-5[1m]", { custom: "gateway/fast" }];
    expect([...short, ...full].filter((model) => !isModel(model))).toEqual([]);
    const wrong = ["gpt", "", "Opus", "sonett[1m]", "inherit[1m]", { custom: "" }, { custom: "x", more: 1 }];
    expect(wrong.filter(isModel)).toEqual([]);
    const agents = { own: { description: "d", prompt: "p", model: { custom: "gateway/fast" } } };
    expect<unknown>(checkAgents(agents)).toEqual({ own: { description: "d", prompt: "p", model: "gateway/fast" } });
    const misspelled = { a: { description: "d", prompt: "p", model: "gateway/fast" as "opus" } };
    expect(() => checkAgents(misspelled)).toThrow("The agent a is wrong: model: write any other name as { custom");
  });

  test("is rejected if a field is misspelled, at any depth", () => {
    const agent = (fields: object) => ({ a: { description: "d", prompt: "p", ...fields } });
    expect(() => checkAgents(agent({ tool: ["Bash"] }))).toThrow('"tool"');
    expect(() => checkAgents(agent({ mcpServers: [{ s: { command: "c", argz: [] } }] }))).toThrow("mcpServers.0");
  });

  test("is rejected with the agent and the field that is wrong", () => {
    const agents = { reviewer: { description: "d", prompt: "p", maxTurns: 0 } };
    expect(() => checkAgents(agents)).toThrow("The agent reviewer is wrong: maxTurns");
    const misspelled = { reviewer: { descripton: "x", prompt: "y" } } as never;
    expect(() => checkAgents(misspelled)).toThrow('there is no field "descripton"');
    const incomplete = { reviewer: { prompt: "y" } } as never;
    expect(() => checkAgents(incomplete)).toThrow("The agent reviewer is wrong: description is missing.");
  });
});
