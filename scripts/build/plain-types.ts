/**
 * Replaces zod's types in the emitted declarations of the wire contract by the plain types that they stand for, so that
 * a consumer of the client needs no zod and reads interfaces. The compiler writes the plain types itself, as the types
 * of constants: the schemas stay the only source. Values of these files are not declared any more; no entry has them.
 */
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join, posix } from "node:path";
import { Glob } from "bun";
import { OPERATIONS } from "../../src/protocol/operations.ts";
import {
  isImportDeclaration,
  isInterfaceDeclaration,
  isTypeAliasDeclaration,
  type Node,
  parse,
  type SourceFile,
} from "../../test/ground/syntax.ts";
import { run } from "./run.ts";

/** A type alias that stands for a type of zod. */
interface ZodAlias {
  /** The declaration file, below dist. */
  file: string;
  name: string;
  /** Those of a type that has a member for each operation; null for any other. */
  members: readonly string[] | null;
}

/** Rewrites the declaration files below dist/protocol that refer to zod. */
export async function writePlainTypes(root: string, dist: string): Promise<void> {
  const texts = new Map<string, string>();
  for (const file of (await Array.fromAsync(new Glob("protocol/**/*.d.ts").scan({ cwd: dist }))).toSorted()) {
    const text = await readFile(join(dist, file), "utf8");
    if (text.includes('from "zod"')) texts.set(file, text);
  }
  const trees = await parse(texts);
  const aliases = [...trees].flatMap(([file, tree]) => zodAliases(file, tree));
  const plain = await plainTypes(root, dist, aliases);
  for (const [file, tree] of trees) {
    const own = new Map(aliases.filter((alias) => alias.file === file).map((alias) => [alias.name, alias]));
    await writeFile(join(dist, file), rewritten(tree, own, plain));
  }
}

function zodAliases(file: string, tree: SourceFile): ZodAlias[] {
  return statements(tree).flatMap((node) => {
    const text = textOf(tree, node);
    const isMeant = /\bz\.|\bkeyof typeof /.test(text);
    if (!isTypeAliasDeclaration(node) || node.typeParameters || !text.startsWith("export ") || !isMeant) return [];
    const members = text.includes("[Name in OperationName]") ? Object.keys(OPERATIONS) : null;
    return [{ file, name: node.name.text, members }];
  });
}

/** The header, the types, and the imports that these need. */
function rewritten(tree: SourceFile, own: ReadonlyMap<string, ZodAlias>, plain: ReadonlyMap<string, string>): string {
  const types = statements(tree).flatMap((node) => {
    if (!isTypeAliasDeclaration(node) && !isInterfaceDeclaration(node)) return [];
    const alias = own.get(node.name.text);
    const text = alias ? `export type ${alias.name} = ${plainText(alias, plain)};` : textOf(tree, node);
    const comment =
      tree.text.slice(node.pos, node.getStart(tree)).match(/\/\*\*(?:(?!\*\/)[\s\S])*\*\/\s*$/)?.[0] ?? "";
    return !text.startsWith("export ") || /\bz\./.test(text) ? [] : [comment + text];
  });
  const body = types.join("\n");
  const imports = statements(tree)
    .filter(isImportDeclaration)
    .map((node) => textOf(tree, node))
    .filter((text) => !text.includes('from "zod"') && namesIn(text).some((name) => body.includes(name)));
  const header = tree.text.match(/^\/\*\*[\s\S]*?\*\/\n/)?.[0] ?? "";
  return `${header}${[...imports, body, "export {};"].join("\n")}\n`;
}

function namesIn(importText: string): string[] {
  return (importText.match(/\{(.*)\}/)?.[1] ?? "").split(",").map((name) => name.replace(/\btype\b/, "").trim());
}

function plainText(alias: ZodAlias, plain: ReadonlyMap<string, string>): string {
  if (alias.members === null) return plain.get(keyOf(alias)) ?? "";
  const members = alias.members.map((member) => `${member}: ${plain.get(keyOf(alias, member)) ?? ""};`);
  return `{\n${members.join("\n").replaceAll(/^/gm, "    ")}\n}`;
}

/** What the compiler emits for constants of these types, by key. */
async function plainTypes(root: string, dist: string, aliases: readonly ZodAlias[]): Promise<Map<string, string>> {
  const folder = join(dist, "plain-types");
  const constants = aliases.flatMap((alias, index) => {
    const source = posix.join("../../src", alias.file.replace(/\.d\.ts$/, ".ts"));
    const type = (member?: string) => (member === undefined ? `T${index}` : `T${index}[${JSON.stringify(member)}]`);
    const constant = (member?: string) => `export const ${keyOf(alias, member)} = of<${type(member)}>();`;
    const given = alias.members === null ? [constant()] : alias.members.map(constant);
    return [`import type { ${alias.name} as T${index} } from "${source}";`, ...given];
  });
  const compilerOptions = {
    noEmit: false,
    declaration: true,
    emitDeclarationOnly: true,
    noUnusedLocals: false,
    rootDir: "../..",
    outDir: "out",
  };
  const config = { extends: "../../tsconfig.json", compilerOptions, include: [], files: ["types.ts"] };
  try {
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, "types.ts"), ["declare function of<T>(): T;", ...constants, ""].join("\n"));
    await writeFile(join(folder, "tsconfig.json"), JSON.stringify(config));
    const compiler = join(root, "node_modules/typescript/bin/tsc");
    await run([process.execPath, compiler, "-p", join(folder, "tsconfig.json")]);
    return constantTypes(await readFile(join(folder, "out/dist/plain-types/types.d.ts"), "utf8"));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function constantTypes(emitted: string): Map<string, string> {
  const parts = emitted.replace(/\nexport \{\};\s*$/, "\n").split(/^export declare const /m);
  return new Map(
    parts.slice(1).map((part) => {
      const [, key = "", type = ""] = /^(\w+): ([\s\S]*);\s*$/.exec(part) ?? [];
      if (key === "" || /\bimport\(|\bz\.|\bT\d+\b/.test(type)) throw new Error(`This is not a plain type: ${part}`);
      return [key, type];
    }),
  );
}

function keyOf({ file, name }: ZodAlias, member = ""): string {
  return `${file}$${name}$${member}`.replaceAll(/\W/g, "_");
}

function statements(tree: SourceFile): Node[] {
  const found: Node[] = [];
  tree.forEachChild((node) => {
    found.push(node);
    return undefined;
  });
  return found;
}

function textOf(tree: SourceFile, node: Node): string {
  return tree.text.slice(node.getStart(tree), node.end);
}
