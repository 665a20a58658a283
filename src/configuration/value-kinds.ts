/**
 * The kinds of values that settings have: a schema that judges a value, words for what is allowed, and how the text of
 * an environment variable is read. A setting with a shape of its own makes its own kind. Pure.
 */
import { z } from "zod";

export interface ValueKind<T> {
  schema: z.ZodType<T>;
  /** Continues "it must be …". */
  allowed: string;
  /** The value that the text of a variable stands for; the schema judges it. */
  fromText(text: string): unknown;
}

const numberFrom = (text: string): unknown => (/^\d+(\.\d+)?$/.test(text) ? Number(text) : text);

/** By default 1 or more. */
export function wholeNumber({ min = 1, max }: { min?: number; max?: number } = {}): ValueKind<number> {
  const schema = z.int().min(min);
  return {
    schema: max === undefined ? schema : schema.max(max),
    allowed: max === undefined ? `a whole number, ${min} or more` : `a whole number from ${min} to ${max}`,
    fromText: numberFrom,
  };
}

/** A number above 0, such as 0.5. */
export function amount(): ValueKind<number> {
  return { schema: z.number().positive(), allowed: "a number above 0", fromText: numberFrom };
}

/** `trueText` or `falseText` is the only text of a variable that means so; any other text means the opposite. */
export function yesOrNo(text: { trueText: string } | { falseText: string }): ValueKind<boolean> {
  const fromText = (given: string) => ("trueText" in text ? given === text.trueText : given !== text.falseText);
  return { schema: z.boolean(), allowed: "true or false", fromText };
}

export function oneOf<const Name extends string>(names: readonly Name[]): ValueKind<Name> {
  return { schema: z.enum(names), allowed: `one of ${names.join(", ")}`, fromText: (text) => text };
}

/** In a variable, `name=amount`, separated by commas. */
export function amountsByName(allowed: string): ValueKind<Record<string, number>> {
  return {
    schema: z
      .record(z.string().min(1).max(100), z.number().positive())
      .refine((given) => Object.keys(given).length <= 100),
    allowed,
    fromText(given) {
      const pairs = given.split(",").map((pair) => pair.split("=").map((each) => each.trim()));
      return Object.fromEntries(pairs.map(([name = "", amount = ""]) => [name, numberFrom(amount)]));
    },
  };
}

/** A text that a function accepts. */
export function text(allowed: string, accepts: (given: string) => boolean): ValueKind<string> {
  return { schema: z.string().refine(accepts), allowed, fromText: (given) => given };
}

/** In a variable, the items are separated by commas. */
export function listOf<T>(item: ValueKind<T>, plural: string): ValueKind<T[]> {
  const split = (given: string) => given.split(",").map((each) => each.trim());
  return {
    schema: z.array(item.schema).max(100),
    allowed: plural,
    fromText: (given) => split(given).flatMap((each) => (each === "" ? [] : [item.fromText(each)])),
  };
}
