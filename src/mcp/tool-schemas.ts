/**
 * Generates the JSON schemas of the tools from the table of operations. Every field has its description where clients
 * look for it, and nothing is repeated, since each byte is sent with every request to a model. Contains no text of
 * its own.
 */
import { z } from "zod";

export interface JsonSchema {
  type?: string | string[];
  description?: string;
  enum?: unknown[];
  properties?: Record<string, JsonSchema>;
  items?: JsonSchema;
  anyOf?: JsonSchema[];
  additionalProperties?: unknown;
  [keyword: string]: unknown;
}

/** The root of a tool's schema. */
type ObjectSchema = JsonSchema & { type: "object"; properties: Record<string, JsonSchema> };

/** The input schema. Unknown fields are rejected, unless the operation accepts any. */
export function inputSchema(schema: z.ZodObject): ObjectSchema {
  const { additionalProperties, ...rest } = made(schema, "input");
  return additionalProperties === undefined ? { ...rest, additionalProperties: false } : rest;
}

/** The output schema. It excludes no fields, since some may be added later. */
export function outputSchema(schema: z.ZodObject): ObjectSchema {
  return open(made(schema, "output")) as ObjectSchema;
}

function made(schema: z.ZodObject, io: "input" | "output"): ObjectSchema {
  // Without the dialect's name: older clients reject dialects that they do not know.
  const { $schema, ...rest } = z.toJSONSchema(schema, { io, override: withoutSafeLimit }) as JsonSchema;
  const plain = portable(rest);
  return { ...plain, type: "object", properties: plain.properties ?? {} };
}

/** Drops the limit that every integer has: it says nothing. */
function withoutSafeLimit({ jsonSchema }: { jsonSchema: { maximum?: number } }): void {
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
}

/**
 * Writes `X or null` as two branches of one type each, which all clients can read, with the description on the field.
 */
function portable(schema: JsonSchema): JsonSchema {
  const { type, description, anyOf, ...rest } = schema;
  if (Array.isArray(type)) {
    const branches = type.map((name) => (name === "null" ? { type: name } : { ...rest, type: name }));
    return portable({ ...(description && { description }), anyOf: branches });
  }
  const said = description ?? anyOf?.find((branch) => branch.description)?.description;
  if (!anyOf) return within(schema, portable);
  const branches = anyOf.map(({ description: moved, ...branch }) => portable(branch));
  return { ...rest, ...(said && { description: said }), anyOf: branches };
}

function open({ additionalProperties, ...schema }: JsonSchema): JsonSchema {
  return within(schema, open);
}

/** Applies a change to every schema inside of a schema. */
function within(schema: JsonSchema, change: (schema: JsonSchema) => JsonSchema): JsonSchema {
  const { properties, items, anyOf } = schema;
  return {
    ...schema,
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([name, field]) => [name, change(field)])),
    }),
    ...(items && { items: change(items) }),
    ...(anyOf && { anyOf: anyOf.map(change) }),
  };
}
