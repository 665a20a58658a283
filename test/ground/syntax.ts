/**
 * Syntax trees of TypeScript sources, for tests that enforce rules about code. Uses the compiler's own parser.
 * TypeScript 7 offers it to JavaScript as `typescript/unstable/async` (its synchronous form does not run on Bun); the
 * version is pinned, and only this file depends on it.
 */
import { type Node, type SourceFile, SyntaxKind } from "typescript/unstable/ast";
import { API } from "typescript/unstable/async";
import { createVirtualFileSystem } from "typescript/unstable/fs";

export * from "typescript/unstable/ast/is";
export { type Node, type SourceFile, SyntaxKind };

/** Parses each text, by path. Resolves no imports, checks no types. */
export async function parse(texts: ReadonlyMap<string, string>): Promise<Map<string, SourceFile>> {
  const base = "/parsed";
  const config = { files: [...texts.keys()], compilerOptions: { noLib: true, noResolve: true, types: [] } };
  const files: Record<string, string> = { [`${base}/tsconfig.json`]: JSON.stringify(config) };
  for (const [path, text] of texts) files[`${base}/${path}`] = text;
  const api = new API({ cwd: base, fs: createVirtualFileSystem(files) });
  try {
    const snapshot = await api.updateSnapshot({ openProjects: [`${base}/tsconfig.json`] });
    const program = snapshot.getProjects()[0]?.program;
    const trees = new Map<string, SourceFile>();
    for (const path of texts.keys()) {
      const tree = await program?.getSourceFile(`${base}/${path}`);
      if (!tree) throw new Error(`the parser returned nothing for ${path}`);
      trees.set(path, tree);
    }
    return trees;
  } finally {
    await api.close();
  }
}

/** Parses one text, for a detector's own test. */
export async function parseText(text: string): Promise<SourceFile> {
  const tree = (await parse(new Map([["sample.ts", text]]))).get("sample.ts");
  if (!tree) throw new Error("the parser returned nothing");
  return tree;
}

/** `node` and all its descendants, outermost first. */
export function* descendants(node: Node): Generator<Node> {
  yield node;
  const children: Node[] = [];
  node.forEachChild((child) => {
    children.push(child);
    return undefined;
  });
  for (const child of children) yield* descendants(child);
}

/** The line of a node, from 1. */
export function lineOf(tree: SourceFile, node: Node): number {
  return tree.text.slice(0, node.getStart(tree)).split("\n").length;
}
