/**
 * Highlights source text by its syntax, line by line. Loaded separately from the page, with all its languages, when
 * the first diff or code is shown. Returns plain words and class names: the text is never interpreted as HTML.
 */
import { common, createLowlight } from "lowlight";

export interface Token {
  text: string;
  /** The class of the syntax; empty for plain text. */
  className: string;
}

const lowlight = createLowlight(common);

type Node = ReturnType<typeof lowlight.highlight>["children"][number];

export interface Highlighter {
  languageOf: typeof languageOf;
  tokenLines: typeof tokenLines;
}

/** By file extension, or by full name (Makefile, or a language itself); null if the language is unknown. */
export function languageOf(path: string): string | null {
  const name = (path.split("/").at(-1) ?? "").toLowerCase();
  const end = name.slice(name.lastIndexOf(".") + 1);
  return lowlight.registered(end) ? end : null;
}

export function tokenLines(text: string, language: string): Token[][] {
  const lines: Token[][] = [[]];
  const walk = (node: Node, className: string) => {
    if (node.type === "text") {
      node.value.split("\n").forEach((part, index) => {
        if (index > 0) lines.push([]);
        if (part !== "") lines.at(-1)?.push({ text: part, className });
      });
    } else if (node.type === "element") {
      const own = node.properties.className;
      const inner = Array.isArray(own) ? own.join(" ") : className;
      for (const child of node.children) walk(child, inner);
    }
  };
  for (const node of lowlight.highlight(language, text).children) walk(node, "");
  return lines;
}
