/**
 * The subject of a tool call, from its input, for the tools whose input people read: commands, edits and files. Knows
 * the field names of OpenCode and of Claude. Pure; an input of another form has no subject.
 */

export type ToolSubject =
  | { kind: "command"; command: string }
  | { kind: "edits"; path: string; edits: { before: string; after: string }[] }
  | { kind: "file"; path: string; content: string }
  | { kind: "patch"; text: string };

type Fields = Record<string, unknown>;

export function subjectOf(name: string, input: unknown): ToolSubject | null {
  if (typeof input !== "object" || input === null) return null;
  const fields = input as Fields;
  const path = textOf(fields, "filePath", "file_path") ?? "";
  switch (name.toLowerCase()) {
    case "bash": {
      const command = textOf(fields, "command");
      return command === null ? null : { kind: "command", command };
    }
    case "edit":
    case "multiedit": {
      const all = Array.isArray(fields.edits) ? fields.edits : [fields];
      const edits = all.flatMap((each) => editOf(each as Fields));
      return edits.length === 0 ? null : { kind: "edits", path, edits };
    }
    case "write": {
      const content = textOf(fields, "content");
      return content === null ? null : { kind: "file", path, content };
    }
    case "patch":
    case "apply_patch": {
      const text = textOf(fields, "patchText", "patch", "input");
      return text === null ? null : { kind: "patch", text };
    }
    default:
      return null;
  }
}

function editOf(fields: Fields): { before: string; after: string }[] {
  const before = textOf(fields, "oldString", "old_string");
  const after = textOf(fields, "newString", "new_string");
  return before === null || after === null ? [] : [{ before, after }];
}

function textOf(fields: Fields, ...names: string[]): string | null {
  for (const name of names) if (typeof fields[name] === "string") return fields[name];
  return null;
}
