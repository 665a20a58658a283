import { expect, test } from "bun:test";
import { taskMarkdown } from "../../../dashboard/src/list/bulk/task-markdown.ts";
import { wireTask } from "../../../src/http/wire.ts";
import { transition } from "../../../src/model/transition.ts";
import { newTask } from "../../../src/testing/sample-task.ts";

test("what agents and repositories wrote stays text", () => {
  const description = "Look <img src=x>\n# at ![this](https://example.test) `now`";
  const task = newTask("ses_1", { description, directory: "/repo/[a](b)", prompt: "Say\n```\n# done\n```" });
  const made = transition(null, { type: "task.created", at: 1, task });
  if (!made.changed) throw new Error(made.reason);
  const lines = taskMarkdown(wireTask(made.task)).split("\n");
  expect(lines[0]).toBe("# Look \\<img src=x\\> \\# at \\!\\[this\\](https://example.test) \\`now\\`");
  expect(lines).toContain("- directory: /repo/\\[a\\](b)");
  expect(lines.slice(lines.indexOf("## Prompt") + 2)).toEqual(["````", "Say", "```", "# done", "```", "````", "", ""]);
});
