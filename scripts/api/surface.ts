/**
 * What a package entry shows to its consumers: each exported name with its declaration, and what those declarations
 * refer to without exporting it. Made from the emitted declarations, so it is what a consumer's compiler sees.
 */
import {
  descendants,
  isExpressionWithTypeArguments,
  isIdentifier,
  isImportTypeNode,
  isLiteralTypeNode,
  isQualifiedName,
  isTypeQueryNode,
  isTypeReferenceNode,
  isVariableStatement,
  type Node,
  type SourceFile,
} from "../../test/ground/syntax.ts";
import { type DeclaredModule, declaredModule, type Origin, targetOf } from "./declared-module.ts";

export interface Declaration {
  name: string;
  /** Without comments. */
  text: string;
  /** True for constants: a consumer can do without them where only their type is used. */
  isValue: boolean;
}

export interface Surface {
  exported: Declaration[];
  /** Declarations that the exported ones refer to. */
  hidden: Declaration[];
}

interface Found extends Origin {
  module: DeclaredModule;
  nodes: Node[];
}

/** The surface of an entry, given the syntax trees of all files that it refers to by path. */
export function surfaceOf(entry: string, trees: ReadonlyMap<string, SourceFile>): Surface {
  const modules = new Map([...trees].map(([file, tree]) => [file, declaredModule(file, tree)]));
  const exported = exportsOf(modules, entry, "");
  const known = new Map<string, { name: string; found: Found }>();
  for (const [name, found] of exported) if (!known.has(keyOf(found))) known.set(keyOf(found), { name, found });
  const open = [...known.values()].map(({ found }) => found);
  const hidden: Found[] = [];
  for (let found = open.pop(); found !== undefined; found = open.pop()) {
    for (const used of usedBy(modules, found)) {
      if (known.has(keyOf(used))) continue;
      known.set(keyOf(used), { name: used.name, found: used });
      hidden.push(used);
      open.push(used);
    }
  }
  return {
    exported: [...exported].map(([name, found]) => declarationOf(name, found)).toSorted(byName),
    hidden: hidden.map((found) => declarationOf(found.name, found)).toSorted(byName),
  };
}

function keyOf({ file, name }: Origin): string {
  return `${file}#${name}`;
}

function byName(a: Declaration, b: Declaration): number {
  return a.name < b.name ? -1 : Number(a.name > b.name);
}

/** Every name that a file exports, with what stands behind it; those of a namespace with its name before them. */
function exportsOf(modules: Map<string, DeclaredModule>, file: string, prefix: string): Map<string, Found> {
  const module = modules.get(file);
  const all = new Map<string, Found>();
  if (!module) return all;
  for (const star of module.stars) for (const [name, found] of exportsOf(modules, star, prefix)) all.set(name, found);
  for (const [name, origin] of module.exported) {
    if (origin.name === "*") {
      for (const [inner, found] of exportsOf(modules, origin.file, `${prefix}${name}.`)) all.set(inner, found);
      continue;
    }
    const found = follow(modules, origin);
    if (found) all.set(`${prefix}${name}`, found);
  }
  return all;
}

/** Follows a name to the file that declares it; nothing where that file is not ours. */
function follow(modules: Map<string, DeclaredModule>, { file, name }: Origin): Found | undefined {
  const module = modules.get(file);
  if (!module) return undefined;
  const nodes = module.declared.get(name);
  if (nodes) return { file, name, module, nodes };
  const next = module.imported.get(name) ?? module.exported.get(name);
  if (next && keyOf(next) !== keyOf({ file, name })) return follow(modules, next);
  for (const star of module.stars) {
    const found = follow(modules, { file: star, name });
    if (found) return found;
  }
  return undefined;
}

function usedBy(modules: Map<string, DeclaredModule>, { module, nodes }: Found): Found[] {
  return nodes.flatMap((declaration) =>
    [...descendants(declaration)].flatMap((node) => {
      const origin = originOf(module, node);
      const found = origin && follow(modules, origin);
      return found ? [found] : [];
    }),
  );
}

function originOf(module: DeclaredModule, node: Node): Origin | undefined {
  if (isImportTypeNode(node)) {
    const name = node.qualifier && leftmost(node.qualifier);
    const isNamed = name !== undefined && isLiteralTypeNode(node.argument);
    return isNamed ? { file: targetOf(module.file, node.argument.literal), name } : undefined;
  }
  const name = referredName(node);
  if (name === undefined) return undefined;
  return module.declared.has(name) ? { file: module.file, name } : module.imported.get(name);
}

/** The name in this file by which a node refers to another declaration. */
function referredName(node: Node): string | undefined {
  if (isTypeReferenceNode(node)) return leftmost(node.typeName);
  if (isTypeQueryNode(node)) return leftmost(node.exprName);
  return isExpressionWithTypeArguments(node) ? leftmost(node.expression) : undefined;
}

function leftmost(node: Node): string | undefined {
  if (isIdentifier(node)) return node.text;
  return isQualifiedName(node) ? leftmost(node.left) : undefined;
}

function declarationOf(name: string, { module, nodes }: Found): Declaration {
  const text = nodes.map((node) => plainText(module.tree.text.slice(node.getStart(module.tree), node.end))).join("\n");
  return { name, text, isValue: nodes.every(isVariableStatement) };
}

/** The report says what the surface is; what it means is said in the sources, and may be reworded at any time. */
function plainText(text: string): string {
  return text
    .replace(/\/\*\*[\s\S]*?\*\//g, "")
    .split("\n")
    .filter((line) => line.trim() !== "" && line.trim() !== "#private;")
    .map((line) => line.trimEnd())
    .join("\n");
}
