/**
 * The exported names of files, and who imports them: which names mean two things, and which exports nobody needs.
 * Reads syntax only. A default export has no name of its own and is left out; a re-export counts as an import.
 */
import { posix } from "node:path";
import {
  descendants,
  isBindingElement,
  isCallExpression,
  isClassDeclaration,
  isEnumDeclaration,
  isExportDeclaration,
  isFunctionDeclaration,
  isIdentifier,
  isImportDeclaration,
  isImportTypeNode,
  isInterfaceDeclaration,
  isLiteralTypeNode,
  isNamedExports,
  isNamedImports,
  isStringLiteral,
  isTypeAliasDeclaration,
  isVariableDeclaration,
  isVariableStatement,
  type Node,
  type SourceFile,
  SyntaxKind,
} from "../../test/ground/syntax.ts";

export type Trees = ReadonlyMap<string, SourceFile>;

/** An exported name, and the files that declare it. */
export interface SharedName {
  name: string;
  /** True where one of the files declares a type by this name: an interface, a type alias, a class or an enum. */
  isType: boolean;
  files: string[];
}

/** An exported name that a file declares. */
export interface ExportedName {
  file: string;
  name: string;
}

/** The names that a file declares and exports, each once, and whether a type has the name. */
export function exportedNames(tree: SourceFile): Map<string, { isType: boolean }> {
  const imported = new Set(
    tree.statements.flatMap((statement) => importedBindings(statement)).map(({ local }) => local),
  );
  const declared = tree.statements.flatMap(declaredNames);
  const names = new Map<string, { isType: boolean }>();
  const add = (name: string, isType: boolean) =>
    names.set(name, { isType: isType || names.get(name)?.isType === true });
  for (const { name, isType, exported } of declared) if (exported) add(name, isType);
  for (const statement of tree.statements) {
    if (!isExportDeclaration(statement) || statement.moduleSpecifier) continue;
    for (const { source, local } of exportedBindings(statement)) {
      if (!imported.has(source))
        add(
          local,
          declared.some(({ name, isType }) => name === source && isType),
        );
    }
  }
  return names;
}

interface DeclaredName {
  name: string;
  isType: boolean;
  exported: boolean;
}

function declaredNames(statement: Node): DeclaredName[] {
  if (isVariableStatement(statement)) {
    const exported = isExported(statement.modifiers);
    return boundNames(statement).map((name) => ({ name, isType: false, exported }));
  }
  const isType =
    isClassDeclaration(statement) ||
    isInterfaceDeclaration(statement) ||
    isTypeAliasDeclaration(statement) ||
    isEnumDeclaration(statement);
  if ((!isType && !isFunctionDeclaration(statement)) || !statement.name) return [];
  return [{ name: statement.name.text, isType, exported: isExported(statement.modifiers) }];
}

/** Names of variables, also of those in patterns. Functions inside the values are not entered. */
function boundNames(node: Node): string[] {
  const names: string[] = [];
  node.forEachChild((child) => {
    if (isVariableDeclaration(child) || isBindingElement(child)) {
      if (child.name && isIdentifier(child.name)) names.push(child.name.text);
      else if (child.name) names.push(...boundNames(child.name));
    } else if (child.kind === SyntaxKind.VariableDeclarationList) names.push(...boundNames(child));
    return undefined;
  });
  return names;
}

function isExported(modifiers: readonly Node[] | undefined): boolean {
  const kinds = modifiers?.map(({ kind }) => kind) ?? [];
  return kinds.includes(SyntaxKind.ExportKeyword) && !kinds.includes(SyntaxKind.DefaultKeyword);
}

/** `source` is the name in the other file, `local` the name here. */
interface Binding {
  source: string;
  local: string;
}

/** Of an import: `*` stands for all names. */
function importedBindings(node: Node): Binding[] {
  if (!isImportDeclaration(node)) return [];
  const clause = node.importClause;
  if (!clause) return [];
  const byDefault = clause.name ? [{ source: "default", local: clause.name.text }] : [];
  const rest = clause.namedBindings;
  if (!rest) return byDefault;
  if (!isNamedImports(rest)) return [...byDefault, { source: "*", local: rest.name.text }];
  return [...byDefault, ...rest.elements.map((element) => bindingOf(element.name.text, element.propertyName?.text))];
}

/** Of an `export { … }`, also of one from another file: `*` stands for all names. */
function exportedBindings(node: Node): Binding[] {
  if (!isExportDeclaration(node)) return [];
  const clause = node.exportClause;
  if (!clause || !isNamedExports(clause)) return [{ source: "*", local: "*" }];
  return clause.elements.map((element) => bindingOf(element.name.text, element.propertyName?.text));
}

function bindingOf(local: string, source = local): Binding {
  return { source, local };
}

/** What a file imports or re-exports: the module as written, and the name there. `*` stands for all names. */
export function importedNames(tree: SourceFile): { module: string; name: string }[] {
  return [...descendants(tree)].flatMap((node) => {
    const module = moduleOf(node);
    return module === undefined ? [] : namesFromModule(node).map((name) => ({ module, name }));
  });
}

function namesFromModule(node: Node): string[] {
  if (isImportDeclaration(node)) return importedBindings(node).map(({ source }) => source);
  if (isExportDeclaration(node)) return exportedBindings(node).map(({ source }) => source);
  // `import("…")`, as a value or a type: which names are used cannot be told without following the value.
  return ["*"];
}

function moduleOf(node: Node): string | undefined {
  const text = (target: Node | undefined) => (target && isStringLiteral(target) ? target.text : undefined);
  if (isImportDeclaration(node) || isExportDeclaration(node)) return text(node.moduleSpecifier);
  if (isImportTypeNode(node)) return isLiteralTypeNode(node.argument) ? text(node.argument.literal) : undefined;
  const isDynamic = isCallExpression(node) && node.expression.kind === SyntaxKind.ImportKeyword;
  return isDynamic ? text(node.arguments[0]) : undefined;
}

/** Names that several of the files declare and export. */
export function sharedNames(trees: Trees): SharedName[] {
  const found = new Map<string, SharedName>();
  for (const [file, tree] of trees) {
    for (const [name, { isType }] of exportedNames(tree)) {
      const earlier = found.get(name);
      const files = [...(earlier?.files ?? []), file];
      found.set(name, { name, isType: isType || earlier?.isType === true, files });
    }
  }
  return [...found.values()]
    .filter(({ files }) => files.length > 1)
    .sort((a, b) => b.files.length - a.files.length || (a.name < b.name ? -1 : 1));
}

/**
 * Exported names of the files chosen by `isOwner` that no file chosen by `isUser` imports. The exports of the package
 * entries are left out: they are for others.
 */
export function unimportedNames(
  trees: Trees,
  options: { isOwner(file: string): boolean; isUser(file: string): boolean; entries: readonly string[] },
): ExportedName[] {
  const used = new Set<string>();
  for (const [file, tree] of trees) {
    if (!options.isUser(file)) continue;
    for (const { module, name } of importedNames(tree)) used.add(`${resolveModule(trees, file, module)} ${name}`);
  }
  return [...trees]
    .filter(([file]) => options.isOwner(file) && !options.entries.includes(file) && !used.has(`${file} *`))
    .flatMap(([file, tree]) => [...exportedNames(tree).keys()].map((name) => ({ file, name })))
    .filter(({ file, name }) => !used.has(`${file} ${name}`));
}

/** The file that a relative import means; the module's own name where it is none of these files. */
function resolveModule(trees: Trees, file: string, module: string): string {
  if (!module.startsWith(".")) return module;
  const path = posix.join(posix.dirname(file), module);
  const stem = path.replace(/\.m?js$/, "");
  return [path, `${stem}.ts`, `${stem}.tsx`, `${stem}/index.ts`].find((candidate) => trees.has(candidate)) ?? path;
}
