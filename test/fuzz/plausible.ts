/**
 * Inputs generated from JSON schemas, most of them what a person or a model could really send: ids that exist or
 * belong to something else, paths that lead nowhere, texts in every script, numbers at their bounds. An id is a
 * placeholder resolved when the input is sent, because what exists changes from input to input.
 */
import fc from "fast-check";

export const KINDS = ["project", "repo", "item", "attempt", "session", "handle", "batch", "cursor"] as const;
export type Kind = (typeof KINDS)[number];

export interface Pick {
  $pick: Kind;
  at: number;
  upper?: boolean;
  cut?: number;
}

export interface JsonSchema {
  type?: string | string[];
  properties?: Record<string, JsonSchema>;
  required?: string[];
  items?: JsonSchema;
  enum?: unknown[];
  const?: unknown;
  anyOf?: JsonSchema[];
  oneOf?: JsonSchema[];
  minimum?: number;
  maximum?: number;
  maxItems?: number;
  maxLength?: number;
  format?: string;
}

const ID_FIELDS: Record<string, Kind> = {
  project_id: "project",
  repo_id: "repo",
  task_id: "item",
  attempt_id: "attempt",
  session_id: "session",
  handle: "handle",
  handles: "handle",
  id: "handle",
  parent: "session",
  group: "batch",
  cursor: "cursor",
  log_cursor: "cursor",
  before: "cursor",
};

const NOBODY = "3f2b8c1e-0d4a-4f6b-9a57-5f6d2c7e8b90";
const LONG = "x".repeat(250_000);

export const TEXTS = [
  "fix it",
  "--fix",
  "-rf",
  "Grüße aus München",
  "日本語のタスク",
  "مرحبا",
  "👩‍👩‍👧‍👦 family",
  "a\nb\nc",
  "\u202Eevil",
  "\u0000",
  "a\u0000b",
  "'; drop table tasks; --",
  "%",
  "_",
  "\\",
  '"',
  "$(touch x)",
  "`id`",
  "null",
  "undefined",
  "0",
  " ",
  "",
  "\t",
  "\u001B[31mred",
  "\uD800",
  "x".repeat(300),
  "x".repeat(301),
  "x".repeat(9000),
  LONG,
  "__proto__",
  "constructor",
  "../../etc/passwd",
  "{}",
  "[]",
  "!say hello",
  "!fail because",
  "!write made.txt some text",
  "!write ../../out.txt x",
  "!ask what now?",
  "!permit may I?",
  "!nonsense",
];

const BRANCHES = [
  "main",
  "main",
  "main",
  "other",
  "none",
  "-x",
  "a..b",
  "refs/heads/main",
  "HEAD",
  "ä/ö",
  "x".repeat(240),
  "a\u0000b",
  "",
];
const AGENTS = ["general", "explore", "nobody", "", "General", "--x", "a\u0000b", "x".repeat(200), "x".repeat(201)];
const EXECUTORS = [
  "SCRIPTED",
  "SCRIPTED",
  "SCRIPTED",
  "SCRIPTED",
  "OPENCODE",
  "CLAUDE_CODE",
  "ACP",
  "ACP:codex",
  "ACP:\u0000",
  "scripted",
  "nobody",
  "",
  "\u0000",
];
const SETUPS = ["true", "exit 3", "echo x > made-by-setup.txt", "", "\u0000", "echo $HOME"];
const PATTERNS = [".env", "*.local", "../x", "/etc/passwd", "-x", "a\u0000b", "", "a.txt", "**/*", "x".repeat(500)];
const WAITS = [0, 1, 10, -1, 50_001, 1.5, 1e308, "5"];
const NUMBERS = [0, 1, -1, 1.5, 50, 200, 201, 2 ** 31, 2 ** 53, 1e308, -1e308, "1", true];
const REQUESTS = ["a", "b", "one", "\u0000", "", "x".repeat(100), "x".repeat(101), "ü"];
const TIMES = [
  "2026-01-01T00:00:00Z",
  "2026-01-01T00:00:00+02:00",
  "9999-12-31T23:59:59Z",
  "0000-01-01T00:00:00Z",
  "x",
  "2026-13-01",
];
const MESSY = [null, 7, "text", [], {}, [null], true, -0, { a: { b: [] } }, "\uDC00"];

const usual = <T>(values: readonly T[]) => fc.constantFrom(...values);

/** Values for a schema; the field's `name` says more than its type. */
export function plausible(schema: JsonSchema, name: string, paths: readonly string[]): fc.Arbitrary<unknown> {
  return fc.oneof({ weight: 30, arbitrary: fitting(schema, name, paths) }, { weight: 1, arbitrary: usual(MESSY) });
}

function fitting(schema: JsonSchema, name: string, paths: readonly string[]): fc.Arbitrary<unknown> {
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum) return usual(schema.enum);
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) return fc.oneof(...choices.map((choice) => fitting(choice, name, paths)));
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  switch (type) {
    case "object":
      return objectOf(schema, paths);
    case "array":
      return fc.array(plausible(schema.items ?? {}, name, paths), { maxLength: Math.min(3, schema.maxItems ?? 3) });
    case "integer":
    case "number":
      return ["wait_ms", "waitMs"].includes(name) ? usual(WAITS) : numberOf(schema);
    case "boolean":
      return fc.boolean();
    case "string":
      return textOf(schema, name, paths);
    default:
      return usual(MESSY);
  }
}

/** Nearly always all required fields, some of the others, and rarely an unknown one. */
export function objectOf(schema: JsonSchema, paths: readonly string[]): fc.Arbitrary<Record<string, unknown>> {
  const required = new Set(schema.required ?? []);
  const fields = Object.entries(schema.properties ?? {}).map(([name, inner]) => {
    const value = plausible(inner, name, paths);
    const present = { weight: required.has(name) ? 40 : 2, arbitrary: value.map((each) => [[name, each]] as const) };
    return fc.oneof(present, { weight: required.has(name) ? 1 : 3, arbitrary: fc.constant([] as const) });
  });
  const unknown = fc.oneof(
    { weight: 40, arbitrary: fc.constant([] as const) },
    { weight: 1, arbitrary: fc.constant([["nobody_knows_this", 1]] as const) },
  );
  return fc.tuple(...fields, unknown).map((entries) => Object.fromEntries(entries.flat()));
}

function numberOf({ minimum = -10, maximum = 1000 }: JsonSchema): fc.Arbitrary<unknown> {
  const within = fc.integer({ min: Math.max(minimum, -1e9), max: Math.min(maximum, 1e9) });
  return fc.oneof({ weight: 4, arbitrary: within }, { weight: 1, arbitrary: usual(NUMBERS) });
}

function textOf(schema: JsonSchema, name: string, paths: readonly string[]): fc.Arbitrary<unknown> {
  const kind = ID_FIELDS[name] ?? (schema.format === "uuid" ? "project" : undefined);
  if (kind) return idOf(kind);
  if (name === "path" || name === "directory" || (name === "repos" && schema.maxLength === 4096)) return usual(paths);
  if (name === "target_branch") return usual(BRANCHES);
  if (name === "executor") return usual(EXECUTORS);
  if (name === "variant" || name === "agent") return usual(AGENTS);
  if (name === "setup") return usual(SETUPS);
  if (name === "copy") return usual(PATTERNS);
  if (name === "request_id" || name === "requestId") return usual(REQUESTS);
  if (name === "from" || name === "to") return usual(TIMES);
  if (name === "limit" || name === "offset" || name === "buckets") return usual(NUMBERS).map(String);
  if (name === "status") return usual(["running", "completed", "error,cancelled", "nothing", ",", "resumed"]);
  const any = fc.string({ unit: "binary", maxLength: 40 }).map((text) => text.toWellFormed());
  return fc.oneof({ weight: 5, arbitrary: usual(TEXTS) }, { weight: 1, arbitrary: any });
}

export function idOf(kind: Kind): fc.Arbitrary<Pick | string> {
  const at = fc.nat(1000);
  return fc.oneof(
    { weight: 14, arbitrary: at.map((index) => ({ $pick: kind, at: index })) },
    { weight: 1, arbitrary: fc.tuple(usual(KINDS), at).map(([other, index]) => ({ $pick: other, at: index })) },
    { weight: 1, arbitrary: at.map((index) => ({ $pick: kind, at: index, upper: true })) },
    { weight: 1, arbitrary: fc.tuple(at, fc.nat(20)).map(([index, cut]) => ({ $pick: kind, at: index, cut })) },
    { weight: 1, arbitrary: usual([NOBODY, "", "none", "%", "../x", "x".repeat(3000), "\u0000", "ü", "null"]) },
  );
}

/** With every placeholder replaced by what exists now. */
export function picked(value: unknown, pools: Record<Kind, readonly string[]>): unknown {
  if (Array.isArray(value)) return value.map((inner) => picked(inner, pools));
  if (typeof value !== "object" || value === null) return value;
  if ("$pick" in value) {
    const { $pick, at, upper, cut } = value as Pick;
    const pool = pools[$pick];
    const found = pool[at % Math.max(1, pool.length)] ?? NOBODY;
    return upper ? found.toUpperCase() : found.slice(0, cut ?? found.length);
  }
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, picked(inner, pools)]));
}
