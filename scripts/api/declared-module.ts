/**
 * One declaration file as data: what it declares, imports and exports. Reads the syntax only, and looks at no other
 * file; `surface.ts` follows names from file to file.
 */
import { posix } from "node:path";
import {
  isClassDeclaration,
  isExportDeclaration,
  isFunctionDeclaration,
  isIdentifier,
  isImportDeclaration,
  isInterfaceDeclaration,
  isNamedExports,
  isNamedImports,
  isNamespaceExport,
  isNamespaceImport,
  isStringLiteral,
  isTypeAliasDeclaration,
  isVariableStatement,
  type Node,
  type SourceFile,
} from "../../test/ground/syntax.ts";

/** A name in another file, or all of that file (`*`). A file from outside is named by its package. */
export interface Origin {
  file: string;
  name: string;
}

export interface DeclaredModule {
  file: string;
  tree: SourceFile;
  declared: Map<string, Node[]>;
  imported: Map<string, Origin>;
  /** What it exports by name: from itself (`file` is its own), or from another file. */
  exported: Map<string, Origin>;
  /** Files whose exports it exports as well. */
  stars: string[];
}

export function declaredModule(file: string, tree: SourceFile): DeclaredModule {
  const module: DeclaredModule = {
    file,
    tree,
    declared: new Map(),
    imported: new Map(),
    exported: new Map(),
    stars: [],
  };
  tree.forEachChild((node) => {
    if (isImportDeclaration(node)) readImport(module, node);
    else if (isExportDeclaration(node)) readExport(module, node);
    else for (const name of declaredNames(node)) declare(module, name, node);
    return undefined;
  });
  return module;
}

function declare(module: DeclaredModule, name: string, node: Node): void {
  module.declared.set(name, [...(module.declared.get(name) ?? []), node]);
  const text = module.tree.text.slice(node.getStart(module.tree), node.end);
  if (text.startsWith("export ")) module.exported.set(name, { file: module.file, name });
}

function declaredNames(node: Node): string[] {
  if (
    isInterfaceDeclaration(node) ||
    isTypeAliasDeclaration(node) ||
    isClassDeclaration(node) ||
    isFunctionDeclaration(node)
  ) {
    return node.name ? [node.name.text] : [];
  }
  if (!isVariableStatement(node)) return [];
  return [...node.declarationList.declarations].flatMap(({ name }) => (isIdentifier(name) ? [name.text] : []));
}

function readImport(module: DeclaredModule, node: Parameters<typeof isImportDeclaration>[0]): void {
  if (!isImportDeclaration(node)) return;
  const file = targetOf(module.file, node.moduleSpecifier);
  const bindings = node.importClause?.namedBindings;
  if (bindings && isNamespaceImport(bindings)) module.imported.set(bindings.name.text, { file, name: "*" });
  if (!bindings || !isNamedImports(bindings)) return;
  for (const { name, propertyName } of bindings.elements) {
    module.imported.set(name.text, { file, name: (propertyName ?? name).text });
  }
}

function readExport(module: DeclaredModule, node: Parameters<typeof isExportDeclaration>[0]): void {
  if (!isExportDeclaration(node)) return;
  const file = node.moduleSpecifier ? targetOf(module.file, node.moduleSpecifier) : module.file;
  const clause = node.exportClause;
  if (!clause) module.stars.push(file);
  else if (isNamespaceExport(clause)) module.exported.set(clause.name.text, { file, name: "*" });
  else if (isNamedExports(clause)) {
    for (const { name, propertyName } of clause.elements) {
      module.exported.set(name.text, { file, name: (propertyName ?? name).text });
    }
  }
}

/** A path below dist, or the package as it is written. */
export function targetOf(file: string, specifier: Node): string {
  const text = isStringLiteral(specifier) ? specifier.text : "";
  if (!text.startsWith(".")) return text;
  return posix.join(posix.dirname(file), text).replace(/\.(js|ts)$/, ".d.ts");
}
