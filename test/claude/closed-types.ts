/**
 * What must not compile, and what must: `closed-types.test.ts` has it checked, and so does the check of the whole repository.
 * An expected error that does not come is an error itself.
 */
import type { AgentDefinition, AgentModel } from "../../src/claude/agent-definition.ts";
import type { TaskNotificationMessage } from "../../src/claude/message-schemas.ts";
import type { ClaudeOptions } from "../../src/claude/open-claude.ts";
import { isMessage, parseMessage } from "../../src/claude/parse-message.ts";
import type { TaskStatus } from "../../src/claude/task-run.ts";
import type { TaskInput, TaskOutputInput } from "../../src/claude/tool-schemas.ts";

export const statuses: TaskStatus[] = ["completed", "failed", "stopped", "lost"];
// @ts-expect-error: no such status
export const wrongStatus: TaskStatus = "finished";
// @ts-expect-error: Claude itself never says lost
export const wrongNotice: TaskNotificationMessage["status"] = "lost";

export const models: AgentModel[] = ["sonnet", "opus", "haiku", "fable", "inherit", "claude-opus-5-5"];
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

const message = parseMessage({});
if (isMessage(message, "task_notification")) {
  message.status satisfies "completed" | "failed" | "stopped";
  // @ts-expect-error: a comparison that can never be true
  if (message.status === "done") throw message;
}
