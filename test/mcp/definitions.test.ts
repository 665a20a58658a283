/** What clients see of the tools: names, schemas, annotations, toolsets. No operation is executed here. */
import { expect, test } from "bun:test";
import type { JsonSchema } from "../../src/mcp/tool-schemas.ts";
import { readToolset } from "../../src/mcp/toolset.ts";
import { door, newClient } from "./door-bed.ts";
import { CORE_TOOLS, EXTENDED_TOOLS } from "./tool-names.ts";

const nothing = door({});

/** Every field of a schema, with its path. */
function fields(schema: JsonSchema, path: string): { path: string; name: string; field: JsonSchema }[] {
  const own = Object.entries(schema.properties ?? {}).flatMap(([name, field]) => [
    { path: `${path}.${name}`, name, field },
    ...fields(field, `${path}.${name}`),
  ]);
  const inner = [...(schema.items ? [schema.items] : []), ...(schema.anyOf ?? [])];
  return [...own, ...inner.flatMap((one) => fields(one, `${path}[]`))];
}

async function allFields() {
  const { tools } = await (await newClient(door({ get_context: () => ({}) }).call, directory("/x"))).listTools();
  expect(tools).toHaveLength(CORE_TOOLS.length + EXTENDED_TOOLS.length + 1);
  return tools.flatMap(({ name, inputSchema, outputSchema }) => [
    ...fields(inputSchema as JsonSchema, `${name} input`),
    ...fields(outputSchema as JsonSchema, `${name} output`),
  ]);
}

function directory(path: string) {
  return { headers: { "x-asyncagents-directory": encodeURIComponent(path) } };
}

test("every field of every tool, at every depth, has a description with its meaning and format [MT-06.1]", async () => {
  const all = await allFields();
  expect(all.length).toBeGreaterThan(150);
  expect(all.filter(({ field }) => !field.description?.trim()).map(({ path }) => path)).toEqual([]);
  const formatOf = ({ format, anyOf }: JsonSchema) => format ?? anyOf?.[0]?.format;
  for (const { path, name, field } of all) {
    const isId = name === "id" || (name.endsWith("_id") && name !== "request_id");
    if (isId)
      expect({ path, format: formatOf(field), said: field.description?.includes("UUID") }).toEqual({
        path,
        format: "uuid",
        said: true,
      });
    if (name.endsWith("_at"))
      expect({ path, format: formatOf(field), said: field.description?.includes("RFC3339") }).toEqual({
        path,
        format: "date-time",
        said: true,
      });
  }
});

test("no schema has a workspace_id, and every closed set of values is an enum or is described", async () => {
  const all = await allFields();
  expect(all.filter(({ name }) => name === "workspace_id")).toEqual([]);
  const executors = all.filter(({ name }) => name === "executor" || name.endsWith("_executor"));
  expect(executors.length).toBeGreaterThan(5);
  for (const { field } of executors) {
    expect(JSON.stringify(field)).toMatch(/OPENCODE.*CLAUDE_CODE.*SCRIPTED/);
  }
});

test("nothing names the scripted agent if it is not offered", async () => {
  const { tools } = await (await newClient(nothing.call, { scripted: false })).listTools();
  expect(JSON.stringify(tools)).not.toContain("SCRIPTED");
  expect(JSON.stringify(tools)).toContain("OPENCODE, CLAUDE_CODE or ACP");
});

test("the toolset decides what is listed and what can be called", async () => {
  const names = async (options: Parameters<typeof newClient>[1]) =>
    (await (await newClient(nothing.call, options)).listTools()).tools.map(({ name }) => name);
  expect(await names({})).toEqual([...CORE_TOOLS, ...EXTENDED_TOOLS]);
  expect(await names({ toolset: "core" })).toEqual(CORE_TOOLS);
  expect(await names({ query: "?tools=core" })).toEqual(CORE_TOOLS);
  expect(await names({ query: "?tools=seed" })).toEqual(CORE_TOOLS);
  expect(await names({ toolset: "core", query: "?tools=extended" })).toEqual(CORE_TOOLS);
  expect(await names({ toolset: "core", query: "?tools=more" })).toEqual(CORE_TOOLS);
  const few = await newClient(nothing.call, { toolset: "core" });
  for (const name of ["get_attempt", "remove_project", "no_such_tool", "toString"]) {
    await expect(few.callTool({ name, arguments: {} })).rejects.toThrow(`Unknown tool: ${name}`);
  }
  expect(nothing.calls).toEqual([]);
});

test("a configured toolset is accepted, or rejected with the available ones", () => {
  for (const all of [undefined, "", "extended", "more"]) expect(readToolset(all)).toBe("extended");
  for (const few of ["core", "seed"]) expect(readToolset(few)).toBe("core");
  for (const unknown of ["none", "toString"]) {
    expect(() => readToolset(unknown)).toThrow("Use core, or extended for all.");
  }
});

test("annotations follow the table", async () => {
  const { tools } = await (await newClient(nothing.call)).listTools();
  const hints = Object.fromEntries(tools.map(({ name, annotations }) => [name, annotations]));
  const flags = (name: string) => {
    const { readOnlyHint, destructiveHint, idempotentHint, openWorldHint } = hints[name] ?? {};
    return [readOnlyHint, destructiveHint, idempotentHint, openWorldHint];
  };
  const named = (wanted: boolean[]) =>
    tools.map(({ name }) => name).filter((name) => JSON.stringify(flags(name)) === JSON.stringify(wanted));
  // Tools that only add; tools that change or remove; tools that start an agent, which may do anything.
  expect(named([false, false, false, false])).toEqual(["create_task", "add_project", "add_repo"]);
  expect(named([false, true, true, false])).toEqual(["update_task", "stop_attempt", "lower_budget"]);
  expect(named([false, true, false, false])).toEqual(["delete_task", "merge_attempt"]);
  const atWork = ["start_task_attempt", "follow_up", "answer_question", "launch_task", "steer_task"];
  expect(named([false, true, false, true])).toEqual(atWork);
  const reading = tools.map(({ name }) => name).filter((name) => /^(list|get|wait)_/.test(name));
  expect(named([true, false, true, false])).toEqual(reading);
});
