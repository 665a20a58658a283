/**
 * Finds time, ids and randomness that do not come from the context, in the rooms that a simulation runs under a clock
 * of its own: a hidden clock, timer or random number there makes a run impossible to repeat.
 */
import {
  descendants,
  isCallExpression,
  isIdentifier,
  isImportDeclaration,
  isImportSpecifier,
  isMethodDeclaration,
  isMethodSignatureDeclaration,
  isNewExpression,
  isObjectLiteralExpression,
  isPropertyAccessExpression,
  isPropertyAssignment,
  isPropertySignatureDeclaration,
  isShorthandPropertyAssignment,
  isStringLiteral,
  lineOf,
  type Node,
  type SourceFile,
} from "./syntax.ts";

/** Files and folders of src. What lies below the seam of the database drivers is left out. */
const rooms = ["model/", "engine/", "board/", "store/", "process/serial-queue.ts", "process/keyed-queue.ts"];
/** What of the simulation itself runs in virtual time. */
const simulated = /^simulation\/(agents|checks|roles|scenario|world)\//;
const belowTheDriverSeam = [
  "sqlite/",
  "sqlite-files/",
  "postgres/",
  "tasks-json/",
  "change-signal.ts",
  "retry-while-busy.ts",
];

/** Uses that are meant. Each must still occur. */
export const exceptions: { path: string; names: string[]; reason: string }[] = [
  {
    path: "src/engine/create-engine.ts",
    names: ["systemClock", "makeId"],
    reason: "fills in what a caller leaves out: the clock of this machine, and random ids",
  },
  {
    path: "src/engine/runner.ts",
    names: ["systemClock", "makeId"],
    reason: "fills in what a caller leaves out: the clock of this machine, and random ids",
  },
  {
    path: "src/engine/desk.ts",
    names: ["systemClock", "makeId"],
    reason: "fills in what a caller leaves out: the clock of this machine, and random ids",
  },
  { path: "simulation/checks/checks.ts", names: ["Bun"], reason: "compares values" },
];

const globals = new Set([
  "setTimeout",
  "clearTimeout",
  "setInterval",
  "clearInterval",
  "setImmediate",
  "clearImmediate",
  "performance",
  "crypto",
  "Bun",
  "globalThis",
]);
const members = new Set([
  "Date.now",
  "Math.random",
  "AbortSignal.timeout",
  "process.hrtime",
  "process.uptime",
  "process.nextTick",
]);
/** Timers, and work of the machine that ends when the machine likes. */
const modules = /^(node:)?(timers|timers\/promises|perf_hooks|fs\/promises|child_process)$/;
/** Our own ways to the same things, and the random ones of node:crypto. */
const imports = /^(systemClock|awakeNow|awakeClock|makeId|random\w*|webcrypto)$/;
/** The functions of src/process/deadline.ts: without a clock they use that of the machine. */
const waits = new Set(["pause", "within", "settlesWithin"]);

export interface HiddenTime {
  line: number;
  name: string;
}

export function needsContext(path: string): boolean {
  if (simulated.test(path)) return true;
  const inSrc = path.replace(/^src\//, "");
  const isBelow = belowTheDriverSeam.some((below) => inSrc.startsWith(`store/${below}`));
  return !isBelow && rooms.some((room) => inSrc.startsWith(room));
}

export function hiddenTime(tree: SourceFile): HiddenTime[] {
  const nodes = [...descendants(tree)];
  const names = new Set(nodes.flatMap(nameOnly));
  return nodes.flatMap((node) => {
    const name = hiddenName(node);
    return name === undefined || names.has(node) ? [] : [{ line: lineOf(tree, node), name }];
  });
}

/** Names of members and imports, which are no use of a global of that name. */
function nameOnly(node: Node): Node[] {
  if (isImportSpecifier(node)) return node.propertyName ? [node.name, node.propertyName] : [node.name];
  const isNamed =
    isPropertyAccessExpression(node) ||
    isPropertyAssignment(node) ||
    isPropertySignatureDeclaration(node) ||
    isMethodDeclaration(node) ||
    isMethodSignatureDeclaration(node);
  return isNamed ? [node.name] : [];
}

function hiddenName(node: Node): string | undefined {
  if (isIdentifier(node)) return globals.has(node.text) ? node.text : undefined;
  if (isImportDeclaration(node)) return importedModule(node.moduleSpecifier);
  if (isImportSpecifier(node)) return importedName(node.propertyName ?? node.name);
  if (isNewExpression(node)) return isDate(node.expression) && !node.arguments?.length ? "new Date()" : undefined;
  if (isCallExpression(node)) return isDate(node.expression) ? "Date()" : clocklessWait(node);
  if (!isPropertyAccessExpression(node) || !isIdentifier(node.expression)) return undefined;
  const member = `${node.expression.text}.${node.name.text}`;
  return members.has(member) ? member : undefined;
}

function isDate(node: Node): boolean {
  return isIdentifier(node) && node.text === "Date";
}

function importedModule(specifier: Node): string | undefined {
  return isStringLiteral(specifier) && modules.test(specifier.text) ? specifier.text : undefined;
}

function importedName(name: Node): string | undefined {
  return isIdentifier(name) && imports.test(name.text) ? name.text : undefined;
}

function clocklessWait(node: Node): string | undefined {
  if (!isCallExpression(node) || !isIdentifier(node.expression) || !waits.has(node.expression.text)) return undefined;
  const options = node.arguments.filter(isObjectLiteralExpression);
  const hasClock = options.some(({ properties }) =>
    properties.some(
      (property) =>
        (isPropertyAssignment(property) || isShorthandPropertyAssignment(property)) &&
        isIdentifier(property.name) &&
        property.name.text === "clock",
    ),
  );
  return hasClock ? undefined : `${node.expression.text}() without a clock`;
}
