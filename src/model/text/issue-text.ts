/**
 * Says in words what a schema found wrong with a value: the field, and what it must be. Knows no schemas and throws
 * nothing. Pure.
 */

/** Those of the schema library, as far as they are told. */
export interface SchemaIssue {
  code: string;
  message: string;
  expected?: unknown;
  values?: readonly unknown[];
  origin?: string;
  minimum?: unknown;
  maximum?: unknown;
  inclusive?: boolean | undefined;
}

/** Follows the name of the field: "must be at least 1". */
export function issueText(issue: SchemaIssue): string {
  switch (issue.code) {
    case "invalid_type":
      return `must be ${article(issue.expected === "int" ? "whole number" : String(issue.expected))}`;
    case "invalid_value":
      return `must be one of ${(issue.values ?? []).map(String).join(", ")}`;
    case "too_big":
      return `must ${boundOf(issue.origin ?? "", `at most ${issue.maximum}`)}`;
    case "too_small":
      return `must ${boundOf(issue.origin ?? "", `${issue.inclusive === false ? "above" : "at least"} ${issue.minimum}`)}`;
    default:
      return `is not valid: ${issue.message}`;
  }
}

/** `rules[2].tool` */
export function fieldOf(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, part) => {
    if (typeof part === "number") return `${text}[${part}]`;
    return text === "" ? String(part) : `${text}.${String(part)}`;
  }, "");
}

export function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (inner, part) => (inner as Record<PropertyKey, unknown> | null | undefined)?.[part],
    value,
  );
}

function boundOf(origin: string, bound: string): string {
  if (origin === "string") return `have ${bound} characters`;
  if (origin === "array") return `have ${bound} ${bound.endsWith(" 1") ? "entry" : "entries"}`;
  return `be ${bound}`;
}

function article(word: string): string {
  return `${/^[aeiou]/.test(word) ? "an" : "a"} ${word}`;
}
