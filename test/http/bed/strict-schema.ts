/** A schema that also rejects unknown fields: an answer must contain nothing undocumented. */
import { z } from "zod";

export function strict(schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodObject) {
    const shape = Object.entries(schema.shape).map(([name, inner]) => [name, strict(inner as z.ZodType)]);
    return z.strictObject(Object.fromEntries(shape));
  }
  if (schema instanceof z.ZodArray) return z.array(strict(schema.element as z.ZodType));
  if (schema instanceof z.ZodNullable) return strict(schema.unwrap() as z.ZodType).nullable();
  if (schema instanceof z.ZodOptional) return strict(schema.unwrap() as z.ZodType).optional();
  if (schema instanceof z.ZodUnion) {
    return z.union(schema.options.map((option) => strict(option as z.ZodType)) as [z.ZodType, z.ZodType]);
  }
  return schema;
}
