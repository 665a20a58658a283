/**
 * Finds layout that the formatter did not choose: comments wider than the page, and spread literals whose only use is
 * to put several entries on one line.
 */
import { linesHolding } from "../../test/ground/size.ts";
import {
  descendants,
  isArrayLiteralExpression,
  isAsExpression,
  isObjectLiteralExpression,
  isParenthesizedExpression,
  isSatisfiesExpression,
  isSpreadAssignment,
  isSpreadElement,
  lineOf,
  type Node,
  type SourceFile,
} from "../../test/ground/syntax.ts";

export const COMMENT_COLUMNS = 120;

/** Lines with a comment that are wider than the page. */
export function wideComments(tree: SourceFile): number[] {
  const lines = tree.text.split("\n");
  return [...linesHolding(tree).comment].filter((line) => [...(lines[line - 1] ?? "")].length > COMMENT_COLUMNS);
}

/** Lines with `...{ a, b }` in an object literal, or `...["a", "b"]` in an array literal. */
export function packedSpreads(tree: SourceFile): number[] {
  return [...descendants(tree)].flatMap((node) => packedIn(node).map((spread) => lineOf(tree, spread)));
}

function packedIn(node: Node): Node[] {
  if (isObjectLiteralExpression(node)) {
    return node.properties.filter(
      (entry) => isSpreadAssignment(entry) && isObjectLiteralExpression(bare(entry.expression)),
    );
  }
  if (isArrayLiteralExpression(node)) {
    return node.elements.filter((entry) => isSpreadElement(entry) && isArrayLiteralExpression(bare(entry.expression)));
  }
  return [];
}

/** Without parentheses and types. */
function bare(node: Node): Node {
  const isWrapped = isParenthesizedExpression(node) || isAsExpression(node) || isSatisfiesExpression(node);
  return isWrapped ? bare(node.expression) : node;
}
