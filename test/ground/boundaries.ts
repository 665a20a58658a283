/**
 * The allowed imports between the folders of src, as data, and the detectors that enforce them. An arrow that is not
 * in the table is forbidden; a new one needs its reason here.
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
  "model",
  "protocol",
  "process",
  "store",
  "hosts",
  "worktree",
  "claude",
  "engine",
  "board",
  "client",
  "http",
  "mcp",
  "configuration",
  "opencode",
  "tui",
  "daemon",
  "cli",
  "testing",
];

/** The files of src that are in none of them. */
export const rootFiles = ["index.ts", "seam-types.ts"];

/** `from` is a folder of src, a folder inside it, or one file. A folder may always import itself. */
export interface Arrow {
  from: string;
  to: string[];
  reason: string;
}

export const arrows: Arrow[] = [
  { from: "protocol", to: ["model"], reason: "the wire contract uses the model's words; it also runs in browsers" },
  { from: "process", to: ["model"], reason: "what every process needs, whatever it is for" },
  { from: "store", to: ["model", "process"], reason: "it keeps what the model describes" },
  { from: "hosts", to: ["model", "process"], reason: "hosts use the model's words and start programs" },
  { from: "hosts/claude", to: ["claude"], reason: "this host is an adapter over the Claude task library" },
  { from: "worktree", to: ["model", "process"], reason: "only for errors and locks: it is plain git otherwise" },
  { from: "claude", to: ["model", "process"], reason: "a library of its own, built for Node" },
  { from: "client", to: ["model", "protocol"], reason: "it runs in a browser: nothing that does I/O but fetch" },
  {
    from: "engine",
    to: ["model", "process", "store", "hosts"],
    reason: "the rules read and write the truth and drive the hosts",
  },
  {
    from: "board",
    to: ["model", "protocol", "process", "store", "engine", "hosts", "worktree"],
    reason: "work items are kept in the store, tried in worktrees and run as tasks of the engine",
  },
  {
    from: "http",
    to: ["model", "protocol", "process", "engine", "board", "client"],
    reason: "a door: parses, calls the rules, formats; it asks other servers through the client",
  },
  {
    from: "mcp",
    to: ["model", "protocol", "process", "engine", "board"],
    reason: "a door: parses, calls the rules, formats",
  },
  {
    from: "configuration",
    to: ["model", "process", "engine", "store", "hosts", "http", "mcp"],
    reason: "each setting is judged by the room that uses it; only what puts a process together reads them",
  },
  {
    from: "opencode",
    to: ["model", "process", "configuration", "engine", "board"],
    reason: "a door: parses, calls the rules, formats",
  },
  { from: "opencode/plugin.ts", to: ["hosts"], reason: "a composition root: makes the host of OpenCode's own client" },
  { from: "opencode/instance.ts", to: ["hosts"], reason: "a composition root: gives the host to the engine" },
  {
    from: "opencode/worktree-engines.ts",
    to: ["hosts"],
    reason: "a composition root: makes the hosts of other directories of the same OpenCode",
  },
  {
    from: "opencode/storage.ts",
    to: ["store", "http"],
    reason: "a composition root: opens the store and starts the status API, once per process",
  },
  {
    from: "tui",
    to: ["model", "protocol", "process", "client"],
    reason:
      "a door in OpenCode's screen: it shows and asks through the client; the process gives the data folder and the log",
  },
  {
    from: "daemon",
    to: [
      "model",
      "protocol",
      "process",
      "configuration",
      "engine",
      "board",
      "store",
      "hosts",
      "worktree",
      "http",
      "mcp",
      "client",
    ],
    reason: "a composition root: opens the seams and mounts the doors",
  },
  {
    from: "cli",
    to: [
      "model",
      "protocol",
      "process",
      "configuration",
      "daemon",
      "engine",
      "board",
      "store",
      "hosts",
      "worktree",
      "http",
      "mcp",
      "client",
    ],
    reason: "a door that finds or starts the daemon; store, install and doctor also work without one",
  },
  {
    from: "seam-types.ts",
    to: ["model", "process", "store", "hosts"],
    reason: "the types of the seams, which two package entries export",
  },
  {
    from: "index.ts",
    to: ["seam-types.ts", "model", "process", "engine", "board", "store", "hosts", "worktree", "claude"],
    reason: "the package entry: the rules, and the factories of the seams they need",
  },
  {
    from: "testing",
    to: [...folders, "seam-types.ts"],
    reason: "suites and scripted models exercise every layer; nothing else imports them",
  },
];

/** Files that import what is named only at run time. */
export const computedImports: { file: string; reason: string }[] = [
  { file: "src/engine/telemetry/setup-module.ts", reason: "the user names the module that sets up telemetry" },
];

/** External modules that a folder must not import. */
export interface Ban {
  from: string;
  matches: (specifier: string) => boolean;
  reason: string;
}

const isBun = (specifier: string) => specifier === "bun" || specifier.startsWith("bun:");
const isDatabase = (specifier: string) => /^(kysely|pg|pg-boss)(\/|$)/.test(specifier);

export const bans: Ban[] = [
  ...folders
    .filter((from) => from !== "engine")
    .map((from) => ({
      from,
      matches: (name: string) => name.startsWith("@opentelemetry/"),
      reason: "telemetry is one room of the engine, src/engine/telemetry, loaded only where it is on",
    })),
  { from: "model", matches: () => true, reason: "the model is pure and imports nothing from outside" },
  ...["claude", "process"].map((from) => ({
    from,
    matches: (name: string) => isBun(name) || isDatabase(name),
    reason: "the Claude library uses it on Node 20, without a store",
  })),
  {
    from: "tui",
    matches: (name: string) => !/^(solid-js$|@opentui\/|@opencode-ai\/plugin\/tui$|node:)/.test(name),
    reason: "OpenCode waits for this file when it starts, and brings only Solid and OpenTUI",
  },
  ...["client", "protocol"].map((from) => ({
    from,
    matches: (name: string) => isBun(name) || isDatabase(name) || isBuiltin(name),
    reason: "it runs in a browser",
  })),
];

export interface Import {
  /** Absent if it is computed at run time. */
  specifier?: string;
  line: number;
}

/** Every import of a file: static, type-only, dynamic, re-exports, `require`, and `import("…")` in a type. */
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

/** The forbidden imports of one file, described. */
export function boundaryViolations(path: string, imports: readonly Import[]): string[] {
  const inSrc = path.replace(/^src\//, "");
  const folder = inSrc.includes("/") ? inSrc.slice(0, inSrc.indexOf("/")) : inSrc;
  if (!rootFiles.includes(folder) && !folders.includes(folder)) return [`${path}: src/${folder} is not in the design`];
  const isInside = (from: string) => inSrc === from || inSrc.startsWith(`${from}/`);
  const allowed = arrows.filter(({ from }) => isInside(from)).flatMap(({ to }) => to);
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
  if (specifier === undefined && computedImports.some(({ file }) => file === path)) return undefined;
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

/** What a pure or portable folder must not use. `Date.parse` and `new Date(value)` are pure and allowed. */
const forbiddenGlobals: { from: string[]; names: string[]; reason: string }[] = [
  {
    from: ["model", "protocol", "process", "claude", "client"],
    names: ["Bun"],
    reason: "does not exist outside of Bun",
  },
  {
    from: ["model"],
    names: [
      "Date.now",
      "new Date()",
      "Math.random",
      "crypto",
      "performance",
      "setTimeout",
      "setInterval",
      "process",
      "fetch",
      "console",
    ],
    reason: "the model has no I/O, no clock and no randomness: pass it in",
  },
];

/** Uses of forbidden globals in a folder, described. */
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

/** A global is used where it is called or read from; a property or parameter of the same name does not count. */
function globalName(node: Node): string | undefined {
  if (isNewExpression(node) && isIdentifier(node.expression)) {
    return node.expression.text === "Date" && !node.arguments?.length ? "new Date()" : undefined;
  }
  if (isCallExpression(node) && isIdentifier(node.expression)) return node.expression.text;
  if (!isPropertyAccessExpression(node) || !isIdentifier(node.expression)) return undefined;
  const object = node.expression.text;
  return object === "Date" || object === "Math" ? `${object}.${node.name.text}` : object;
}
