/**
 * The allowed imports between the folders of src, as data, and the detectors that hold them.
 * An arrow that is not in the table is forbidden; a new one needs its reason here.
 */
import { isBuiltin } from "node:module";
import { posix } from "node:path";
import {
  descendants,
  isCallExpression,
  isExportDeclaration,
  isIdentifier,
  isImportDeclaration,
  isImportTypeNode,
  isLiteralTypeNode,
  isNewExpression,
  isPropertyAccessExpression,
  isStringLiteral,
  lineOf,
  type Node,
  type SourceFile,
  SyntaxKind,
} from "./syntax.ts";

export const folders = [
  ...["model", "store", "hosts", "worktree", "claude", "engine", "board"],
  ...["http", "client", "mcp", "opencode", "cli", "testing"],
];

/** `from` is a folder of src, or one file in it. A folder may always import itself. */
export interface Arrow {
  from: string;
  to: string[];
  reason: string;
}

export const arrows: Arrow[] = [
  { from: "store", to: ["model"], reason: "it keeps what the model describes" },
  { from: "hosts", to: ["model"], reason: "hosts speak in the model's words" },
  { from: "hosts/claude.ts", to: ["claude"], reason: "this host is an adapter over the Claude task library" },
  { from: "hosts/claude-requests.ts", to: ["claude"], reason: "the same adapter: the types of what its SDK asks" },
  { from: "hosts/claude-hosts.ts", to: ["claude"], reason: "it asks whether the SDK of the Claude library is there" },
  {
    from: "hosts/opencode-process.ts",
    to: ["claude"],
    reason: "the guard that ends a program with all that it started is part of the Claude library, which stands alone",
  },
  { from: "worktree", to: ["model"], reason: "only for errors: it is plain git otherwise" },
  { from: "claude", to: ["model"], reason: "a library of its own that shares the words" },
  { from: "client", to: ["model"], reason: "it runs in a browser: types and errors, nothing that does I/O" },
  { from: "engine", to: ["model", "store", "hosts"], reason: "the rules decide over the truth and the hands" },
  {
    from: "board",
    to: ["model", "store", "engine", "hosts", "worktree", "client"],
    reason:
      "work items are kept in the store, tried in worktrees, run as tasks of the engine; the client owns the words of the wire",
  },
  {
    from: "http",
    to: ["model", "engine", "board", "client"],
    reason: "a door: parses, calls the rules, formats; the client owns the words of the wire",
  },
  { from: "mcp", to: ["model", "engine", "board", "client"], reason: "a door: parses, calls the rules, formats" },
  { from: "opencode", to: ["model", "engine", "board"], reason: "a door: parses, calls the rules, formats" },
  { from: "opencode/plugin.ts", to: ["hosts"], reason: "a composition root: makes the host of OpenCode's own client" },
  { from: "opencode/instance.ts", to: ["hosts"], reason: "a composition root: gives the host to the engine" },
  {
    from: "opencode/storage.ts",
    to: ["store", "http"],
    reason: "a composition root: opens the store and starts the status API, once per process",
  },
  {
    from: "cli",
    to: ["model", "engine", "board", "store", "hosts", "worktree", "http", "mcp", "client"],
    reason: "a composition root: the daemon opens the seams and mounts the other doors",
  },
  {
    from: "index.ts",
    to: ["model", "engine", "board", "store", "hosts", "worktree"],
    reason: "the package entry: the rules, and the factories of the seams they need",
  },
  {
    from: "testing",
    to: folders,
    reason: "suites and scripted models exercise every layer; nothing else imports them",
  },
];

/** Modules from outside that a folder must not import. */
export interface Ban {
  from: string;
  matches: (specifier: string) => boolean;
  reason: string;
}

const isBun = (specifier: string) => specifier === "bun" || specifier.startsWith("bun:");
const isDatabase = (specifier: string) => /^(kysely|pg|pg-boss)(\/|$)/.test(specifier);

export const bans: Ban[] = [
  { from: "model", matches: () => true, reason: "the model is pure and imports nothing from outside" },
  { from: "claude", matches: (name) => isBun(name) || isDatabase(name), reason: "it runs on Node 20, without a store" },
  {
    from: "client",
    matches: (name) => isBun(name) || isDatabase(name) || isBuiltin(name),
    reason: "it runs in a browser",
  },
];

export interface Import {
  /** Absent when it is computed at run time. */
  specifier?: string;
  line: number;
}

/** Every import of a file: plain, of types, dynamic, re-exports, `require`, and `import("…")` in a type. */
export function importsOf(tree: SourceFile): Import[] {
  const found: Import[] = [];
  const add = (node: Node, target: Node | undefined) =>
    found.push({ line: lineOf(tree, node), ...(target && isStringLiteral(target) && { specifier: target.text }) });
  for (const node of descendants(tree)) {
    if (isImportDeclaration(node)) add(node, node.moduleSpecifier);
    else if (isExportDeclaration(node) && node.moduleSpecifier) add(node, node.moduleSpecifier);
    else if (isImportTypeNode(node)) add(node, isLiteralTypeNode(node.argument) ? node.argument.literal : undefined);
    else if (isCallExpression(node) && isImportCall(node.expression)) add(node, node.arguments[0]);
  }
  return found;
}

function isImportCall(callee: Node): boolean {
  return callee.kind === SyntaxKind.ImportKeyword || (isIdentifier(callee) && callee.text === "require");
}

/** What is wrong with the imports of one file, in words. */
export function boundaryViolations(path: string, imports: readonly Import[]): string[] {
  const inSrc = path.replace(/^src\//, "");
  const folder = inSrc.includes("/") ? inSrc.slice(0, inSrc.indexOf("/")) : inSrc;
  if (folder !== "index.ts" && !folders.includes(folder)) return [`${path}: src/${folder} is not in the design`];
  const allowed = arrows.filter(({ from }) => from === folder || from === inSrc).flatMap(({ to }) => to);
  return imports.flatMap(({ specifier, line }) => {
    const problem = importProblem(path, folder, specifier, allowed);
    return problem ? [`${path}:${line}: ${problem}`] : [];
  });
}

function importProblem(
  path: string,
  folder: string,
  specifier: string | undefined,
  allowed: string[],
): string | undefined {
  if (specifier === undefined) return "imports a computed name: write it out, so that it can be checked";
  if (!specifier.startsWith(".")) {
    if (/^asyncagents(\/|$)/.test(specifier)) return "imports its own package by name: use the path";
    const ban = bans.find(({ from, matches }) => from === folder && matches(specifier));
    return ban && `imports ${specifier}: ${ban.reason}`;
  }
  const target = posix.join(posix.dirname(path), specifier);
  if (target === "package.json") return undefined;
  const [top, to = ""] = target.split("/");
  if (top !== "src") return `imports ${target}, which is outside of src`;
  return to === folder || allowed.includes(to)
    ? undefined
    : `imports src/${to}: there is no arrow from ${folder} to it`;
}

/** What a pure or portable folder must not touch. `Date.parse` and `new Date(value)` are pure, and fine. */
const forbiddenGlobals: { from: string[]; names: string[]; reason: string }[] = [
  { from: ["model", "claude", "client"], names: ["Bun"], reason: "does not exist outside of Bun" },
  {
    from: ["model"],
    names: [
      ...["Date.now", "new Date()", "Math.random", "crypto", "performance", "setTimeout", "setInterval"],
      ...["process", "fetch", "console"],
    ],
    reason: "the model has no I/O, no clock and no randomness: pass it in",
  },
];

/** Uses of globals that the folder must not touch, in words. */
export function globalViolations(path: string, tree: SourceFile): string[] {
  const folder = path.split("/")[1] ?? "";
  const rules = forbiddenGlobals.filter(({ from }) => from.includes(folder));
  if (rules.length === 0) return [];
  return [...descendants(tree)].flatMap((node) => {
    const name = globalName(node);
    const rule = name && rules.find(({ names }) => names.includes(name));
    return rule ? [`${path}:${lineOf(tree, node)}: ${name} ${rule.reason}`] : [];
  });
}

/** A global is used where it is called or read from; a property or a parameter of the same name is something else. */
function globalName(node: Node): string | undefined {
  if (isNewExpression(node) && isIdentifier(node.expression)) {
    return node.expression.text === "Date" && !node.arguments?.length ? "new Date()" : undefined;
  }
  if (isCallExpression(node) && isIdentifier(node.expression)) return node.expression.text;
  if (!isPropertyAccessExpression(node) || !isIdentifier(node.expression)) return undefined;
  const object = node.expression.text;
  return object === "Date" || object === "Math" ? `${object}.${node.name.text}` : object;
}
