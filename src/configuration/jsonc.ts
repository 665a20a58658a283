/**
 * Reads and edits JSON with comments. Edits like a person would: only the changed text, so that comments, order and
 * layout stay. Parses the whole file into nodes with positions; rejects what it does not understand. Pure.
 */

type JsoncNode =
  | { type: "object"; start: number; end: number; members: { key: string; value: JsoncNode }[] }
  | { type: "array"; start: number; end: number; items: JsoncNode[] }
  | { type: "value"; start: number; end: number; value: unknown };

class JsoncError extends Error {}

export function parseJsonc(text: string): JsoncNode {
  const reader = new Reader(text);
  const node = reader.value();
  reader.space();
  if (reader.at < text.length) throw new JsoncError(`unexpected text after the end, at character ${reader.at}`);
  return node;
}

/** The plain value of a node. */
export function plainOf(node: JsoncNode): unknown {
  if (node.type === "value") return node.value;
  if (node.type === "array") return node.items.map(plainOf);
  return Object.fromEntries(node.members.map(({ key, value }) => [key, plainOf(value)]));
}

/** The text with this value at this path; missing objects are created. */
export function setJsonc(text: string, path: readonly string[], value: unknown): string {
  let node = parseJsonc(text);
  for (const [depth, key] of path.entries()) {
    if (node.type !== "object") throw new JsoncError(`"${path.slice(0, depth).join(".")}" is not an object`);
    const member = node.members.find((each) => each.key === key);
    if (!member) {
      const nested = path.slice(depth + 1).reduceRight<unknown>((inner, name) => ({ [name]: inner }), value);
      return added(text, node, nested, key);
    }
    node = member.value;
  }
  return text.slice(0, node.start) + rendered(value, indentAt(text, node.start), unitOf(text)) + text.slice(node.end);
}

/** The text with this item appended to the list at this path; a missing list is created. */
export function appendJsonc(text: string, key: string, value: unknown): string {
  const root = parseJsonc(text);
  const list = root.type === "object" ? root.members.find((member) => member.key === key)?.value : undefined;
  if (!list) return setJsonc(text, [key], [value]);
  if (list.type !== "array") throw new JsoncError(`"${key}" is not a list`);
  return added(text, list, value, null);
}

function added(text: string, into: Exclude<JsoncNode, { type: "value" }>, value: unknown, key: string | null): string {
  const children = into.type === "object" ? into.members.map((member) => member.value) : into.items;
  const unit = unitOf(text);
  const outer = indentAt(text, into.start);
  const last = children.at(-1);
  const isOneLine = last !== undefined && !text.slice(into.start, into.end).includes("\n");
  const indent = outer + unit;
  const entry = `${key === null ? "" : `${JSON.stringify(key)}: `}${rendered(value, indent, unit)}`;
  if (!last) return `${text.slice(0, into.start + 1)}\n${indent}${entry}\n${outer}${text.slice(into.end - 1)}`;
  const comma = commaAfter(text, last.end, into.end);
  if (isOneLine) return `${text.slice(0, last.end)}, ${entry}${text.slice(comma ? comma + 1 : last.end)}`;
  // A comment after the last entry stays on its line.
  const lineEnd = text.indexOf("\n", comma ?? last.end);
  const at = lineEnd === -1 || lineEnd > into.end ? (comma ?? last.end) + (comma ? 1 : 0) : lineEnd;
  const between = text.slice(comma === null ? last.end : comma + 1, at);
  return `${text.slice(0, last.end)},${between}\n${indent}${entry}${text.slice(at)}`;
}

function commaAfter(text: string, from: number, end: number): number | null {
  const reader = new Reader(text);
  reader.at = from;
  reader.space();
  return reader.at < end && text[reader.at] === "," ? reader.at : null;
}

function rendered(value: unknown, indent: string, unit: string): string {
  return JSON.stringify(value, null, unit).replaceAll("\n", `\n${indent}`);
}

function indentAt(text: string, at: number): string {
  const line = text.slice(text.lastIndexOf("\n", at - 1) + 1);
  return /^[ \t]*/.exec(line)?.[0] ?? "";
}

/** The file's indentation; two spaces if unknown. */
function unitOf(text: string): string {
  return /\n([ \t]+)["\]}]/.exec(text)?.[1] ?? "  ";
}

class Reader {
  at = 0;
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  /** Skips white space and comments. */
  space(): void {
    const blank = /(?:[\s\uFEFF]+|\/\/[^\n]*|\/\*[\s\S]*?\*\/)*/y;
    blank.lastIndex = this.at;
    blank.exec(this.#text);
    this.at = blank.lastIndex;
  }

  value(): JsoncNode {
    this.space();
    const start = this.at;
    if (this.#accepts("{")) return this.#object(start);
    if (this.#accepts("[")) return this.#array(start);
    return { type: "value", start, value: this.#scalar(), end: this.at };
  }

  #object(start: number): JsoncNode {
    const members: { key: string; value: JsoncNode }[] = [];
    for (this.space(); !this.#accepts("}"); this.space()) {
      const key = this.#scalar();
      if (typeof key !== "string") throw this.#unexpected();
      this.space();
      if (!this.#accepts(":")) throw this.#unexpected();
      if (members.some((member) => member.key === key)) throw new JsoncError(`"${key}" is written twice`);
      members.push({ key, value: this.value() });
      this.space();
      if (!this.#accepts(",") && this.#text[this.at] !== "}") throw this.#unexpected();
    }
    return { type: "object", start, members, end: this.at };
  }

  #array(start: number): JsoncNode {
    const items: JsoncNode[] = [];
    for (this.space(); !this.#accepts("]"); this.space()) {
      items.push(this.value());
      this.space();
      if (!this.#accepts(",") && this.#text[this.at] !== "]") throw this.#unexpected();
    }
    return { type: "array", start, items, end: this.at };
  }

  #scalar(): unknown {
    const literal = /"(?:[^"\\\n]|\\.)*"|-?\d[\d.eE+-]*|true|false|null/y;
    literal.lastIndex = this.at;
    const [found] = literal.exec(this.#text) ?? [];
    if (found === undefined) throw this.#unexpected();
    try {
      const value: unknown = JSON.parse(found);
      this.at += found.length;
      return value;
    } catch {
      throw this.#unexpected();
    }
  }

  #accepts(character: string): boolean {
    if (this.#text[this.at] !== character) return false;
    this.at++;
    return true;
  }

  #unexpected(): JsoncError {
    const line = this.#text.slice(0, this.at).split("\n").length;
    return new JsoncError(`line ${line} is not valid JSON`);
  }
}
