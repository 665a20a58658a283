/**
 * Answers in JSON: the SDK's option `outputFormat` for a zod schema, and the result of a turn with the type of that
 * schema.
 */
import { z } from "zod";
import { MessageParseError } from "../errors.ts";
import type { ResultMessage } from "../messages/message-schemas.ts";

/** The SDK's option `outputFormat` that requests this schema. */
export function outputFormatOf(schema: z.ZodType): { type: "json_schema"; schema: Record<string, unknown> } {
  // Claude does not support later drafts.
  return { type: "json_schema", schema: { ...z.toJSONSchema(schema, { target: "draft-7" }) } };
}

/** The validated value. Throws MessageParseError if there is none, or if it does not match, with the field. */
export function structuredOutput<Schema extends z.ZodType>(
  result: Pick<ResultMessage, "structured_output">,
  schema: Schema,
): z.output<Schema> {
  const parsed = schema.safeParse(result.structured_output);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const field = ["structured_output", ...(issue?.path ?? [])].join(".");
  throw new MessageParseError("result", field, issue?.message ?? "unknown");
}
