/**
 * Finds code that decides a task's status. Only `transition()` in src/model may; the rest of src copies its decision.
 * Reading is allowed: comparisons, type members, `where("status", "=", …)`. A filter such as `{ status: "running" }`
 * looks like a write, so name it differently (`statuses: ["running"]`) or list it as an exemption with a reason.
 */
import {
  descendants,
  isAsExpression,
  isBinaryExpression,
  isCallExpression,
  isConditionalExpression,
  isElementAccessExpression,
  isIdentifier,
  isNoSubstitutionTemplateLiteral,
  isNumericLiteral,
  isParenthesizedExpression,
  isPropertyAccessExpression,
  isPropertyAssignment,
  isSatisfiesExpression,
  isStringLiteral,
  isTemplateHead,
  isVariableDeclaration,
  lineOf,
  type Node,
  type SourceFile,
  SyntaxKind,
} from "./syntax.ts";

const statuses = ["running", "completed", "error", "cancelled", "resumed"];

/** Lines that look like a decision but are not. */
export interface Exemption {
  path: string;
  /** Part of the line. */
  text: string;
  reason: string;
}

export const exemptions: Exemption[] = [];

/** Exempt folders: the owner, and scripted models that imitate programs with their own statuses. */
export function mayAssignStatus(path: string): boolean {
  return path.startsWith("src/model/") || path.startsWith("src/testing/");
}

/** Places that assign a status: line and text of each. */
export function statusAssignments(tree: SourceFile): { line: number; text: string }[] {
  const lines = tree.text.split("\n");
  const found = [...descendants(tree)].filter(assignsStatus).map((node) => lineOf(tree, node));
  return [...new Set(found)].map((line) => ({ line, text: lines[line - 1]?.trim() ?? "" }));
}

function assignsStatus(node: Node): boolean {
  if (isBinaryExpression(node)) return isAssignment(node.operatorToken.kind) && writesStatus(node.left, node.right);
  if (isPropertyAssignment(node)) return isNamedStatus(node.name) && yieldsStatus(node.initializer);
  if (isVariableDeclaration(node)) {
    return isNamedStatus(node.name) && node.initializer !== undefined && yieldsStatus(node.initializer);
  }
  if (isCallExpression(node)) return isColumnWrite(node.expression, node.arguments[0]);
  return isSqlText(node) && /\bset\b[^;]*\bstatus"?\s*=(?!=)/i.test(node.text);
}

function isAssignment(kind: SyntaxKind): boolean {
  return kind >= SyntaxKind.FirstAssignment && kind <= SyntaxKind.LastAssignment;
}

/** A member named status may only be set to a number (HTTP); a variable of that name may hold a copy. */
function writesStatus(left: Node, right: Node): boolean {
  if (isPropertyAccessExpression(left)) return left.name.text === "status" && !isNumericLiteral(right);
  if (isElementAccessExpression(left)) return isNamedStatus(left.argumentExpression) && !isNumericLiteral(right);
  return isNamedStatus(left) && yieldsStatus(right);
}

function isNamedStatus(name: Node): boolean {
  return (isIdentifier(name) || isStringLiteral(name)) && name.text === "status";
}

/** True if the expression can evaluate to one of the five status literals written in it. */
function yieldsStatus(value: Node): boolean {
  if (isStringLiteral(value) || isNoSubstitutionTemplateLiteral(value)) return statuses.includes(value.text);
  if (isConditionalExpression(value)) return yieldsStatus(value.whenTrue) || yieldsStatus(value.whenFalse);
  if (isParenthesizedExpression(value) || isAsExpression(value) || isSatisfiesExpression(value)) {
    return yieldsStatus(value.expression);
  }
  const chooses = [SyntaxKind.QuestionQuestionToken, SyntaxKind.BarBarToken, SyntaxKind.AmpersandAmpersandToken];
  return (
    isBinaryExpression(value) &&
    chooses.includes(value.operatorToken.kind) &&
    (yieldsStatus(value.left) || yieldsStatus(value.right))
  );
}

/** Kysely's `.set("status", …)`. */
function isColumnWrite(callee: Node, first: Node | undefined): boolean {
  const isSet = isPropertyAccessExpression(callee) && callee.name.text === "set";
  return isSet && first !== undefined && isStringLiteral(first) && first.text === "status";
}

function isSqlText(node: Node): node is Node & { text: string } {
  return isStringLiteral(node) || isNoSubstitutionTemplateLiteral(node) || isTemplateHead(node);
}
