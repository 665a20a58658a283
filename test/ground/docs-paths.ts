/**
 * Finds the repository paths in a Markdown text, in backticks and in links. Fenced blocks are ignored: they contain
 * diagrams, sample output and other layouts.
 */
import { posix } from "node:path";

/** Text in backticks is a path of this repository if it starts with one of these. */
const tops = [
  "src/",
  "test/",
  "docs/",
  "bin/",
  "scripts/",
  "bench/",
  "dashboard/",
  "examples/",
  "simulation/",
  ".ci/",
  ".github/",
];
const rootFile =
  /^(README|CONTRIBUTING|CHANGELOG|SECURITY|AGENTS|LICENSE)(\.md)?$|^(package(-lock)?|tsconfig|biome)\.json$/;

/** Paths from the repository's root. Patterns and placeholders (`test/*.test.ts`, `docs/<name>.md`) are left out. */
export function namedPaths(document: string, markdown: string): string[] {
  const prose = markdown.replace(/^( *)(```|~~~)[\s\S]*?^\1\2/gm, "");
  const quoted = Array.from(prose.matchAll(/`([^`\n]+)`/g), ([, text = ""]) => text.replace(/:\d+$/, ""));
  const fromRoot = quoted.filter((text) => tops.some((top) => text.startsWith(top)) || rootFile.test(text));
  const linked = Array.from(prose.matchAll(/\]\(([^)\s]+)[^)]*\)/g), ([, target = ""]) => target.replace(/#.*$/, ""));
  const relative = linked
    .filter((target) => target !== "" && !/^([a-z][a-z+.-]*:|\/\/)/i.test(target))
    .map((target) => posix.join(posix.dirname(document), target));
  const paths = [...fromRoot, ...relative].filter((path) => !/[*<>{}…\s]|YYYY/.test(path));
  return [...new Set(paths.map((path) => path.replace(/\/$/, "")))];
}
