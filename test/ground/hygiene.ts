/**
 * Finds what does not belong in a standalone repository or in code that runs inside another program's terminal:
 * registry hosts, paths of a particular machine, printing, tests that keep other tests from running.
 */
import { descendants, isIdentifier, isPropertyAccessExpression, lineOf, type SourceFile } from "./syntax.ts";

/** Lines of package-lock.json or .npmrc that tie the installation to one registry. */
export function registryHosts(text: string): string[] {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => /"resolved":\s*"[^"]*:\/\//.test(line) || /^[^#;]*registry\s*=\s*\S*\/\//.test(line));
}

/** Mentions of these machine folders at the start of an absolute path. */
export function machinePaths(text: string, machineFolders: readonly string[]): string[] {
  return text.split("\n").flatMap((line, i) => {
    const found = machineFolders.find((folder) => startsPath(line, folder));
    return found ? [`${i + 1}: ${line.trim().slice(0, 120)}`] : [];
  });
}

// In "./work/x" or "~/work/x" the same letters are part of a relative path.
function startsPath(line: string, folder: string): boolean {
  for (let at = line.indexOf(folder); at !== -1; at = line.indexOf(folder, at + 1)) {
    if (at === 0 || !/[\w.~$}*/-]/.test(line[at - 1] ?? "")) return true;
  }
  return false;
}

/** Lines that print: `console.…`, and the standard streams of `process` and `Bun`. */
export function printingLines(tree: SourceFile): number[] {
  const lines = [...descendants(tree)].flatMap((node) => {
    if (!isPropertyAccessExpression(node) || !isIdentifier(node.expression)) return [];
    const [object, member] = [node.expression.text, node.name.text];
    const isStream = (object === "process" || object === "Bun") && (member === "stdout" || member === "stderr");
    return object === "console" || isStream ? [lineOf(tree, node)] : [];
  });
  return [...new Set(lines)];
}

/** Lines with `.only`, which silently keeps the other tests of a file from running. */
export function exclusiveTests(tree: SourceFile): number[] {
  return [...descendants(tree)].flatMap((node) => {
    if (!isPropertyAccessExpression(node) || node.name.text !== "only") return [];
    const isTest = isIdentifier(node.expression) && ["test", "it", "describe"].includes(node.expression.text);
    return isTest ? [lineOf(tree, node)] : [];
  });
}
