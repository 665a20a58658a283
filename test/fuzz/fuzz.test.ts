/**
 * Plausible inputs for every operation over HTTP and MCP, generated from the schemas that the server publishes: no
 * internal error, no hang, and no changes by a rejected input. `ASYNCAGENTS_FUZZ` sets the number of inputs;
 * `ASYNCAGENTS_FUZZ_SEED` repeats a run.
 */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { z } from "zod";
import { ROUTES } from "../../src/http/routes.ts";
import { toolsOf } from "../../src/mcp/tools.ts";
import { ERROR_CODES, type ErrorCode } from "../../src/model/errors.ts";
import { BOARD_OPERATIONS } from "../../src/protocol/operations.ts";
import { gitBed } from "../worktree/git-bed.ts";
import { type FuzzBed, fuzzBed } from "./fuzz-bed.ts";
import { idOf, type JsonSchema, objectOf, picked } from "./plausible.ts";

const INPUTS = Number(process.env.ASYNCAGENTS_FUZZ ?? 1_000);
/** A fresh store after this many inputs: the stored state is compared as a whole. */
const ROUND = 1_500;
const SEED = Number(process.env.ASYNCAGENTS_FUZZ_SEED ?? (Math.random() * 2 ** 31) >>> 0);
const ANSWER_MS = 10_000;
/** Bun itself rejects longer addresses. */
const MAX_QUERY = 2_000;

interface Input {
  door: "board" | "mcp" | "route";
  name: string;
  method: string;
  id: unknown;
  body: unknown;
}

interface Answer {
  status: number;
  code: string | null;
  text: string;
}

const git = gitBed();

function schemaOf(schema: z.ZodType | undefined): JsonSchema {
  return schema ? (z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }) as JsonSchema) : { type: "object" };
}

function bodyOf(schema: JsonSchema, paths: readonly string[]): fc.Arbitrary<unknown> {
  const choices = schema.oneOf ?? schema.anyOf;
  return choices ? fc.oneof(...choices.map((each) => objectOf(each, paths))) : objectOf(schema, paths);
}

function inputs(paths: readonly string[]): fc.Arbitrary<Input> {
  const none = fc.constant(null);
  const board = Object.entries(BOARD_OPERATIONS).map(([name, { input }]) =>
    fc.record({
      door: fc.constant("board" as const),
      name: fc.constant(name),
      method: fc.constant("POST"),
      id: none,
      body: bodyOf(schemaOf(input), paths),
    }),
  );
  const tools = toolsOf("extended", { context: true, scripted: true }).map(({ name, inputSchema }) =>
    fc.record({
      door: fc.constant("mcp" as const),
      name: fc.constant(name),
      method: fc.constant("POST"),
      id: none,
      body: bodyOf(inputSchema as JsonSchema, paths),
    }),
  );
  const routes = ROUTES.filter(({ path }) => !path.startsWith("/v1/board/") && path !== "/v1/events").map((route) =>
    fc.record({
      door: fc.constant("route" as const),
      name: fc.constant(route.path),
      method: fc.constant(route.method),
      id: route.path.includes("task-groups") ? idOf("batch") : idOf("handle"),
      body: bodyOf(schemaOf(route.operation.input), paths),
    }),
  );
  return fc.oneof(fc.oneof(...board), fc.oneof(...tools), fc.oneof(...routes));
}

async function send(bed: FuzzBed, { door, name, method, id, body }: Input): Promise<Answer> {
  const headers = {
    authorization: `Bearer ${bed.token}`,
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
  };
  const signal = AbortSignal.timeout(ANSWER_MS);
  if (door === "mcp") {
    const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: body } };
    return toolAnswer(await fetch(`${bed.url}/mcp`, { method, headers, body: JSON.stringify(call), signal }));
  }
  const path =
    door === "board" ? `/v1/board/${name}` : name.replace(":id", encodeURIComponent(String(id).toWellFormed()));
  const query = Object.entries(method === "GET" ? (body as object) : {}).map(([key, value]): [string, string] => [
    key,
    String(value).slice(0, MAX_QUERY),
  ]);
  const url = `${bed.url}${path}?${new URLSearchParams(query)}`;
  const response = await fetch(url, {
    method,
    headers,
    signal,
    ...(method === "GET" ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, code: response.ok ? null : JSON.parse(text).error.code, text };
}

async function toolAnswer(response: Response): Promise<Answer> {
  const text = await response.text();
  const data = /^data: (.*)$/m.exec(text)?.[1] ?? text;
  const { result, error } = JSON.parse(data) as {
    result?: { isError?: boolean; content: { text: string }[] };
    error?: { code: number };
  };
  if (error) return { status: error.code === -32603 ? 500 : 400, code: String(error.code), text };
  if (!result?.isError) return { status: response.status, code: null, text };
  const { code } = JSON.parse(result.content[0]?.text ?? "{}") as { code: string };
  const status = code === "invalid_argument" ? 400 : (ERROR_CODES[code as ErrorCode] ?? 500);
  return { status, code, text };
}

/** The differences between two states, in a few words. */
function difference(before: Map<string, string>, after: Map<string, string>): string[] {
  return [...after].flatMap(([place, text]) => {
    const old = before.get(place) ?? "";
    if (old === text) return [];
    let at = 0;
    while (old[at] === text[at]) at++;
    return [
      `${place}: …${old.slice(Math.max(0, at - 60), at + 200)}… became …${text.slice(Math.max(0, at - 60), at + 200)}…`,
    ];
  });
}

async function tryInput(bed: FuzzBed, given: Input, counts: Map<string, number>): Promise<void> {
  await bed.replenish();
  const input = picked(given, bed.pools()) as Input;
  const before = bed.kept();
  const answer = await send(bed, input);
  const group = `${answer.status}`;
  counts.set(group, (counts.get(group) ?? 0) + 1);
  for (const [, cursor = ""] of answer.text.matchAll(/\\?"(?:next_cursor|log_cursor)\\?":\s*\\?"([^"\\]+)/g)) {
    if (bed.cursors.push(cursor) > 50) bed.cursors.shift();
  }
  if (answer.status === 500 || answer.code === "internal")
    throw new Error(`a fault: ${answer.text} ${bed.logged.at(-1)}`);
  if (answer.status < 400 || answer.status > 499) return bed.settled();
  const after = bed.kept();
  // This rejection requests an approval, which is all it may do.
  if (answer.code === "approval_needed") after.set("approvals", before.get("approvals") ?? "");
  const changed = difference(before, after);
  if (changed.length > 0)
    throw new Error(`refused with ${answer.text.slice(0, 500)}, and changed ${changed.join("\n")}`);
}

test(
  `${INPUTS} plausible inputs over HTTP and MCP: no internal error, no hang, and no changes by a rejected one (seed ${SEED})`,
  async () => {
    const counts = new Map<string, number>();
    for (let round = 0; round * ROUND < INPUTS; round++) {
      const bed = await fuzzBed(git);
      try {
        await fc.assert(
          fc.asyncProperty(inputs(bed.paths), (input) => tryInput(bed, input, counts)),
          // An input's effect depends on those before it, so a smaller one proves nothing.
          { numRuns: Math.min(ROUND, INPUTS - round * ROUND), seed: SEED + round, endOnFailure: true },
        );
        expect(bed.logged).toEqual([]);
      } finally {
        await bed.stop();
      }
      if (INPUTS > ROUND) console.log(`round ${round + 1}: ${[...counts].map((each) => each.join(" × ")).join(", ")}`);
    }
    // Most inputs must get somewhere, or this would prove nothing.
    expect(counts.get("200") ?? 0).toBeGreaterThan(INPUTS / 10);
  },
  120_000 + INPUTS * 200,
);
