/**
 * The OpenAPI 3.1 document, made from the same table and schemas that the server runs on, so that it cannot say anything
 * else. Made when somebody asks for it.
 */
import { z } from "zod";
import { ERROR_CODES, type ErrorCode } from "../model/errors.ts";
import { messageSchema } from "../protocol/conversations.ts";
import { snapshotSchema } from "../protocol/events.ts";
import { errorSchema, healthSchema, instanceSchema, troubleSchema } from "../protocol/server.ts";
import { agentStatsSchema, groupSchema, historySchema, statsSchema } from "../protocol/statistics.ts";
import {
  answerBodySchema,
  forkBodySchema,
  launchBodySchema,
  resumeBodySchema,
  runSchema,
  taskListSchema,
  taskSchema,
} from "../protocol/tasks.ts";
import type { Route } from "./routes.ts";

type Json = Record<string, unknown>;

/** Those that the document refers to by name. */
const NAMED_SCHEMAS = {
  BackgroundTask: taskSchema,
  Run: runSchema,
  AgentStats: agentStatsSchema,
  Stats: statsSchema,
  History: historySchema,
  TaskList: taskListSchema,
  TaskGroup: groupSchema,
  Message: messageSchema,
  Health: healthSchema,
  Trouble: troubleSchema,
  Instance: instanceSchema,
  Snapshot: snapshotSchema,
  Error: errorSchema,
  Launch: launchBodySchema,
  Resume: resumeBodySchema,
  Fork: forkBodySchema,
  Answer: answerBodySchema,
} satisfies Record<string, z.ZodType>;

const NAMES = new Map<unknown, string>(Object.entries(NAMED_SCHEMAS).map(([name, schema]) => [schema, name]));

export function openApiDocument(routes: readonly Route[], version: string): Json {
  const paths: Record<string, Json> = {};
  for (const route of routes) {
    const path = route.path.replace(":id", "{id}");
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationOf(route) };
  }
  const components = Object.entries(NAMED_SCHEMAS).map(([name, schema]) => [name, schemaOf(schema, "output", schema)]);
  return {
    openapi: "3.1.0",
    info: {
      title: "asyncagents status API",
      version,
      description:
        "Every background task of a user on this machine. Reading needs the token in server.json, unless the server can tell that the caller is its own user; changing always does.",
      license: { name: "MIT", identifier: "MIT" },
    },
    paths,
    components: {
      schemas: Object.fromEntries(components),
      securitySchemes: { token: { type: "http", scheme: "bearer", description: "The token in server.json." } },
    },
  };
}

function operationOf(route: Route): Json {
  const type = route.type ?? "application/json";
  const answer = { description: route.summary, content: { [type]: { schema: schemaOf(route.answer, "output") } } };
  return {
    summary: route.summary,
    operationId: operationId(route),
    parameters: [...pathParameters(route), ...queryParameters(route)],
    ...(route.body
      ? { requestBody: { required: true, content: { "application/json": { schema: schemaOf(route.body, "input") } } } }
      : {}),
    responses: { [String(route.status ?? 200)]: answer, ...failures(route) },
    ...(route.access === "open" ? {} : { security: route.access === "token" ? [{ token: [] }] : [{ token: [] }, {}] }),
  };
}

function operationId({ method, path }: Route): string {
  const words = path
    .replace("/v1/", "")
    .replace(":id", "one")
    .split(/[/._-]/);
  return [method === "GET" ? "get" : "post", ...words.map((word) => word.charAt(0).toUpperCase() + word.slice(1))].join(
    "",
  );
}

function pathParameters({ path }: Route): Json[] {
  return path.includes(":id") ? [{ name: "id", in: "path", required: true, schema: { type: "string" } }] : [];
}

function queryParameters({ query }: Route): Json[] {
  if (!query) return [];
  const { properties = {} } = schemaOf(query, "input") as { properties?: Record<string, Json> };
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: "query",
    description,
    schema,
  }));
}

function failures(route: Route): Json {
  const guarded: ErrorCode[] = route.access === "open" ? [] : ["not_allowed"];
  const codes: ErrorCode[] = [
    ...guarded,
    ...(route.access === "token" ? ["not_authorized" as const] : []),
    ...(route.fails ?? []),
  ];
  const schema = schemaOf(errorSchema, "output");
  const byStatus = Map.groupBy(codes, (code) => String(ERROR_CODES[code]));
  return Object.fromEntries(
    [...byStatus].map(([status, same]) => [
      status,
      { description: same.join(", "), content: { "application/json": { schema } } },
    ]),
  );
}

/** JSON Schema with references to the named ones; `root` itself is written out. */
function schemaOf(schema: z.ZodType, io: "input" | "output", root?: z.ZodType): Json {
  const { $schema: _dialect, ...json } = z.toJSONSchema(schema, {
    io,
    unrepresentable: "any",
    override({ zodSchema, jsonSchema }) {
      const name = NAMES.get(zodSchema);
      if (name === undefined || (zodSchema as unknown) === root) return;
      for (const key of Object.keys(jsonSchema)) delete (jsonSchema as Json)[key];
      jsonSchema.$ref = `#/components/schemas/${name}`;
    },
  });
  return json;
}
