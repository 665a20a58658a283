/**
 * Finds the small changes ("mutations") in a source file that a good test suite should notice: a negated condition, a
 * dropped statement, a removed await. Pure: reads a syntax tree and returns positions and replacements. It does not
 * check types: a mutant that would not compile still runs on Bun, and only tests judge it.
 */
import {
  descendants,
  isAwaitExpression,
  isBinaryExpression,
  isConditionalExpression,
  isExpressionStatement,
  isIfStatement,
  isLiteralTypeNode,
  isReturnStatement,
  isStringLiteral,
  isThrowStatement,
  isWhileStatement,
  lineOf,
  type Node,
  type SourceFile,
  SyntaxKind,
} from "../../test/ground/syntax.ts";

/** One change in one place of a file. */
export interface Mutation {
  path: string;
  line: number;
  /** A short description of the change. */
  change: string;
  /** The replaced code, on one line. */
  code: string;
  start: number;
  end: number;
  replacement: string;
}

const OPERATORS: Partial<Record<SyntaxKind, string>> = {
  [SyntaxKind.LessThanToken]: "<=",
  [SyntaxKind.LessThanEqualsToken]: "<",
  [SyntaxKind.GreaterThanToken]: ">=",
  [SyntaxKind.GreaterThanEqualsToken]: ">",
  [SyntaxKind.EqualsEqualsEqualsToken]: "!==",
  [SyntaxKind.ExclamationEqualsEqualsToken]: "===",
  [SyntaxKind.AmpersandAmpersandToken]: "||",
  [SyntaxKind.BarBarToken]: "&&",
  [SyntaxKind.QuestionQuestionToken]: "&&",
  [SyntaxKind.QuestionQuestionEqualsToken]: "=",
  [SyntaxKind.PlusToken]: "-",
  [SyntaxKind.MinusToken]: "+",
};

const COMPARISONS = [SyntaxKind.EqualsEqualsEqualsToken, SyntaxKind.ExclamationEqualsEqualsToken];
/** A statement that only writes to a log. */
const LOGS = /^(console\.\w+|(this\.#?|context\.)?log(\.\w+|Failure)?)(\?\.)?\(/;
const SHOWN_LENGTH = 90;

/** Every mutation of a file, in text order. */
export function mutationsOf(path: string, tree: SourceFile): Mutation[] {
  const found: Mutation[] = [];
  const add = (node: Node, change: string, replacement: string, start = node.getStart(tree), end = node.end) => {
    const code = tree.text.slice(node.getStart(tree), node.end).replaceAll(/\s+/g, " ");
    found.push({ path, line: lineOf(tree, node), change, code: cut(code), start, end, replacement });
  };
  const text = (node: Node) => tree.text.slice(node.getStart(tree), node.end);
  for (const node of descendants(tree)) {
    const condition = conditionOf(node);
    if (condition) add(condition, "negated", `!(${text(condition)})`);
    if (isExpressionStatement(node) && !LOGS.test(text(node))) add(node, "dropped", ";");
    if (isThrowStatement(node)) add(node, "not thrown", ";");
    if (isReturnStatement(node) && node.expression) add(node, "returned nothing", "return undefined as never;");
    if (isAwaitExpression(node)) add(node, "not awaited", `(${text(node.expression)})`);
    if (isBinaryExpression(node)) {
      const { operatorToken, left, right } = node;
      const other = OPERATORS[operatorToken.kind];
      const isAssignment = operatorToken.kind === SyntaxKind.QuestionQuestionEqualsToken;
      // Mixing `??` with `||` or `&&` requires parentheses; an assignment target must not have any.
      const changed = isAssignment
        ? `${text(left)} ${other} ${text(right)}`
        : `((${text(left)}) ${other} (${text(right)}))`;
      if (other) add(node, `${text(operatorToken)} to ${other}`, changed);
      const literal = COMPARISONS.includes(operatorToken.kind) && isStringLiteral(right) && right.text !== "";
      if (literal) add(right, "emptied", '""');
    }
    const isBoolean = node.kind === SyntaxKind.TrueKeyword || node.kind === SyntaxKind.FalseKeyword;
    if (isBoolean && !isLiteralTypeNode(node.parent)) {
      add(node, "flipped", node.kind === SyntaxKind.TrueKeyword ? "false" : "true");
    }
  }
  return found.sort((a, b) => a.start - b.start || a.end - b.end);
}

/** The text with this change. */
export function mutated(text: string, { start, end, replacement }: Mutation): string {
  return text.slice(0, start) + replacement + text.slice(end);
}

/** A sample of this size, determined by the seed: the same list and seed give the same choice. */
export function sample<Item>(items: readonly Item[], count: number, seed: number): Item[] {
  const rest = [...items];
  const chosen: Item[] = [];
  for (let state = seed >>> 0; chosen.length < count && rest.length > 0; ) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    chosen.push(...rest.splice(Math.floor((state / 2 ** 32) * rest.length), 1));
  }
  return chosen;
}

function conditionOf(node: Node): Node | undefined {
  if (isIfStatement(node) || isWhileStatement(node)) return node.expression;
  return isConditionalExpression(node) ? node.condition : undefined;
}

function cut(code: string): string {
  return code.length > SHOWN_LENGTH ? `${code.slice(0, SHOWN_LENGTH)}…` : code;
}
