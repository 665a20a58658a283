/**
 * The OpenAPI 3.1 document, generated from the table of operations and its schemas, so that the two cannot disagree.
 * Generated on request.
 */
import { z } from "zod";
import { ERROR_CODES, type ErrorCode } from "../model/errors.ts";
import { type Address, addressOf } from "../protocol/addresses.ts";
import { messageSchema } from "../protocol/conversations.ts";
import { snapshotSchema } from "../protocol/events.ts";
import type { Operation, StatusOperation } from "../protocol/operation.ts";
import { OPERATIONS } from "../protocol/operations.ts";
import { errorSchema, healthSchema, instanceSchema, troubleSchema } from "../protocol/server.ts";
import { agentStatsSchema, groupSchema, historySchema, statsSchema, usageSchema } from "../protocol/statistics.ts";
import {
  answerBodySchema,
  forkBodySchema,
  launchBodySchema,
  resumeBodySchema,
  runSchema,
  taskListSchema,
  taskSchema,
} from "../protocol/tasks.ts";

type Json = Record<string, unknown>;
type DocumentedOperation = Operation & Pick<StatusOperation, "status" | "isStream">;

/** The schemas that the document refers to by name. */
const NAMED_SCHEMAS = {
  BackgroundTask: taskSchema,
  Run: runSchema,
  AgentStats: agentStatsSchema,
  Stats: statsSchema,
  History: historySchema,
  Usage: usageSchema,
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

export function openApiDocument(version: string): Json {
  const paths: Record<string, Json> = {};
  for (const [name, operation] of Object.entries(OPERATIONS)) {
    const address = addressOf(name);
    const path = address.path.replace(":id", "{id}");
    paths[path] = { ...paths[path], [address.method.toLowerCase()]: operationOf(address, operation) };
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

function operationOf(address: Address, operation: DocumentedOperation): Json {
  const { title, output, access, isStream, status = 200 } = operation;
  const type = isStream ? "text/event-stream" : "application/json";
  const answer = { description: title, content: { [type]: { schema: schemaOf(output, "output") } } };
  const secured = access === "token" ? [{ token: [] }] : [{ token: [] }, {}];
  return {
    summary: title,
    operationId: operationId(address),
    parameters: [...pathParameters(address), ...queryParameters(address, operation)],
    ...bodyOf(address, operation),
    responses: { [String(status)]: answer, ...failures(operation) },
    ...(access !== "open" && { security: secured }),
  };
}

function operationId({ method, path }: Address): string {
  const words = path
    .replace("/v1/", "")
    .replace(":id", "one")
    .split(/[/._-]/);
  const capitalized = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1));
  return [method === "GET" ? "get" : "post", ...capitalized].join("");
}

function pathParameters({ path }: Address): Json[] {
  return path.includes(":id") ? [{ name: "id", in: "path", required: true, schema: { type: "string" } }] : [];
}

function queryParameters({ sends }: Address, { input }: Operation): Json[] {
  if (input === undefined || sends !== "query") return [];
  const { properties = {} } = schemaOf(input, "input") as { properties?: Record<string, Json> };
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: "query",
    description,
    schema,
  }));
}

function bodyOf({ sends }: Address, { input }: Operation): Json {
  if (input === undefined || sends !== "body") return {};
  return { requestBody: { required: true, content: { "application/json": { schema: schemaOf(input, "input") } } } };
}

function failures({ access, errors }: Operation): Json {
  const guarded: ErrorCode[] = access === "open" ? [] : ["not_allowed"];
  const authorized: ErrorCode[] = access === "token" ? ["not_authorized"] : [];
  const schema = schemaOf(errorSchema, "output");
  const byStatus = Map.groupBy([...guarded, ...authorized, ...errors], (code) => String(ERROR_CODES[code]));
  return Object.fromEntries(
    [...byStatus].map(([status, same]) => [
      status,
      { description: same.join(", "), content: { "application/json": { schema } } },
    ]),
  );
}

/** The JSON Schema, with references to the named schemas; `root` itself is written out. */
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
