/**
 * What must not compile, and what must: `closed-types.test.ts` compiles it, and so does the type check of the
 * repository. A missing expected error is an error itself.
 */
import { z } from "zod";
import type { TaskNotificationMessage } from "../../src/claude/messages/message-schemas.ts";
import { isMessage, parseMessage } from "../../src/claude/messages/parse-message.ts";
import type { TaskInput, TaskOutputInput } from "../../src/claude/messages/tool-schemas.ts";
import type { AgentDefinition, AgentModel } from "../../src/claude/session/agent-definition.ts";
import type { ClaudeOptions } from "../../src/claude/session/open-claude.ts";
import type { PromptBlock } from "../../src/claude/session/prompt.ts";
import { structuredOutput } from "../../src/claude/session/structured-output.ts";
import type { SubagentStopInput } from "../../src/claude/tasks/hook-inputs.ts";
import type { SavedTask } from "../../src/claude/tasks/saved-task.ts";
import type { TaskStatus } from "../../src/claude/tasks/task-run.ts";
import type { WaitOptions } from "../../src/process/deadline.ts";

export const statuses: TaskStatus[] = ["completed", "failed", "stopped", "lost"];
// @ts-expect-error: no such status
export const wrongStatus: TaskStatus = "finished";
// @ts-expect-error: Claude itself never says lost
export const wrongNotice: TaskNotificationMessage["status"] = "lost";

export const models: AgentModel[] = [
  "sonnet",
  "opus",
  "haiku",
  "fable",
  "inherit",
  "opusplan",
  "best",
  "default",
  "claude-opus-5-5",
  "eu.anthropic.claude-haiku-4",
  "sonnet[1m]",
  "claude-opus-5-5[1m]",
  { custom: "our-gateway/fast" },
];
// @ts-expect-error: a large window of no model
export const wrongWindow: AgentModel = "sonett[1m]";
// @ts-expect-error: no such model
export const wrongModel: AgentModel = "gpt";

const base = { description: "d", prompt: "p" };
// @ts-expect-error: a model that is misspelled
export const wrongAgent: AgentDefinition = { ...base, model: "sonett" };
// @ts-expect-error: a field that is misspelled
export const wrongField: AgentDefinition = { description: "d", prompt: "p", tool: ["Bash"] };
// @ts-expect-error: the same inside the options
export const wrongOptions: ClaudeOptions = { agents: { a: { ...base, model: "sonett" } } };
export const options: ClaudeOptions = { agents: { a: { ...base, model: "opus" } }, cwd: "/x", maxBudgetUsd: 1 };

// @ts-expect-error: no such model of the tool
export const wrongInput: TaskInput = { ...base, model: "inherit" };
// @ts-expect-error: block is missing
export const wrongRead: TaskOutputInput = { task_id: "a", timeout: 5 };

// @ts-expect-error: a field of the tool that is misspelled
export const wrongToolField: TaskInput = { description: "d", prompt: "p", subagent: "x" };
// @ts-expect-error: a field of a server that is misspelled
export const wrongServer: AgentDefinition = { ...base, mcpServers: [{ a: { command: "c", argz: [] } }] };
// @ts-expect-error: an option that is misspelled
export const wrongLimit: WaitOptions = { timout: 5 };
// @ts-expect-error: a block of no such kind
export const wrongBlock: PromptBlock = { type: "picture", source: { type: "url", url: "x" } };
// @ts-expect-error: a field of a hook's input that is misspelled
export const wrongHook = (input: SubagentStopInput) => input.agent_transcript;
// @ts-expect-error: a field of a kept task that is misspelled
export const wrongSaved = (task: SavedTask) => task.sesionId;

const message = parseMessage({});
// @ts-expect-error: a field of any message that is misspelled
export const wrongAnyField = message.sesion_id;
if (isMessage(message, "task_notification")) {
  message.status satisfies "completed" | "failed" | "stopped";
  // @ts-expect-error: a comparison that can never be true
  if (message.status === "done") throw message;
  // @ts-expect-error: a field that is misspelled
  if (message.sumary) throw message;
  // @ts-expect-error: one inside a field
  if (message.usage?.tokens) throw message;
}
if (isMessage(message, "result")) {
  message.result satisfies string | undefined;
  // @ts-expect-error: a field that is misspelled
  if (message.total_cost) throw message;
}
if (isMessage(message, "background_tasks_changed")) {
  // @ts-expect-error: a field of an entry that is misspelled
  if (message.tasks[0]?.taskid) throw message;
}

const answer = structuredOutput({ structured_output: {} }, z.object({ pears: z.number() }));
answer.pears satisfies number;
// @ts-expect-error: not in the schema
export const wrongAnswer = answer.apples;
