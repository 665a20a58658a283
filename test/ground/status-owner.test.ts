import { describe, expect, test } from "bun:test";
import { sources } from "./repository.ts";
import { exemptions, mayAssignStatus, statusAssignments } from "./status-owner.ts";
import { parse, parseText } from "./syntax.ts";

const src = await parse(sources(/^src\/.*\.tsx?$/));

function isExempt(path: string, text: string): boolean {
  return exemptions.some((exemption) => exemption.path === path && text.includes(exemption.text));
}

describe("the status of a task", () => {
  test("is assigned only in the model", () => {
    const found = [...src]
      .filter(([path]) => !mayAssignStatus(path))
      .flatMap(([path, tree]) => statusAssignments(tree).map(({ line, text }) => ({ path, line, text })));
    expect(found.filter(({ path, text }) => !isExempt(path, text))).toEqual([]);
  });

  test("has no unused exemption", () => {
    const unused = exemptions.filter(({ path, text }) => {
      const tree = src.get(path);
      return !tree || !statusAssignments(tree).some((found) => found.text.includes(text));
    });
    expect(unused).toEqual([]);
  });
});

describe("the detector of status assignments", () => {
  test.each([
    'task.status = "error"',
    "task.status = next",
    'row["status"] = next',
    'task.status ??= "running"',
    'const row = { id, status: "running" }',
    'const row = { "status": `completed` }',
    'const row = { status: failed ? "error" : "completed" as const }',
    'const row = { status: task.status ?? ("cancelled" satisfies Status) }',
    'const status = "resumed"',
    'let status; status = "running"',
    'db.updateTable("task").set("status", next)',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a sample of code
    "sql`update task set title = 'x', status = ${next}`",
    "db.run(\"UPDATE task SET status = 'error'\")",
  ])("finds %s", async (text) => {
    expect(statusAssignments(await parseText(text))).toHaveLength(1);
  });

  test.each([
    'if (task.status === "error") stop()',
    'query.where("status", "=", "running")',
    'query.where("status", "in", ["running", "resumed"])',
    'type Row = { status: "running" | "error" }',
    "const row = { id, status: task.status }",
    "const { status } = task",
    'const shape = { status: z.enum(["running", "completed"]) }',
    "response.status = 404",
    'const phase = { phase: "working", outcome: "completed" }',
    "sql`select * from task where status = 'running'`",
    '// task.status = "error"',
    "const text = \"status: 'running'\"",
  ])("lets pass %s", async (text) => {
    expect(statusAssignments(await parseText(text))).toEqual([]);
  });
});
