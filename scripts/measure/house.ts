/**
 * Measures a tree of this project: folders, lengths, exported names, repeated code and layout, for each area.
 * Works on any checkout, so that two commits can be compared by the same rules. It enforces no limits; `test/ground`
 * does.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { read, repositoryFiles, sources } from "../../test/ground/repository.ts";
import { codeLines, type FolderSize, folderSizes, functionSizes } from "../../test/ground/size.ts";
import { parse, type SourceFile } from "../../test/ground/syntax.ts";
import { type ExportedName, exportedNames, type SharedName, sharedNames, unimportedNames } from "./exported-names.ts";
import { packedSpreads, wideComments } from "./line-tricks.ts";
import { type RepeatedBlock, repeatedBlocks } from "./repeated-blocks.ts";

export const AREAS = ["src", "test", "dashboard/src", "bench", "scripts", "simulation"];

/** A folder with more files than this wants folders of its own. */
export const FOLDER_FILES = 20;

/** Of a set of lengths, with the place of the longest. */
export interface Lengths {
  count: number;
  median: number;
  p90: number;
  max: number;
  longest: string;
}

export interface AreaMeasures {
  area: string;
  /** Folders with direct files, the fullest first. */
  folders: FolderSize[];
  fileLines: Lengths;
  functionLines: Lengths;
  repeatedBlocks: RepeatedBlock[];
  /** Places, as `file:line`. */
  wideComments: string[];
  packedSpreads: string[];
}

export interface HouseMeasures {
  areas: AreaMeasures[];
  /** Repeated code whose two places are in different areas. */
  repeatedBetweenAreas: RepeatedBlock[];
  /** Of src. */
  exports: {
    names: number;
    shared: SharedName[];
    /** Imported by no other file at all. */
    unimported: ExportedName[];
    /** Imported by files outside of src only: tests, scripts, the dashboard. */
    onlyOutside: ExportedName[];
  };
}

export async function measureHouse(tree: string): Promise<HouseMeasures> {
  const files = repositoryFiles(tree);
  const trees = await parse(sources(/\.tsx?$/, tree));
  const blocks = repeatedBlocks(new Map([...trees].filter(([file]) => areaOf(file) !== undefined)));
  return {
    areas: AREAS.filter((area) => files.some((file) => areaOf(file) === area)).map((area) => ({
      ...measureArea(area, files, trees),
      repeatedBlocks: blocks.filter(({ first, second }) => areaOf(first.file) === area && areaOf(second.file) === area),
    })),
    repeatedBetweenAreas: blocks.filter(({ first, second }) => areaOf(first.file) !== areaOf(second.file)),
    exports: measureExports(trees, packageEntries(tree)),
  };
}

function areaOf(file: string): string | undefined {
  return AREAS.find((area) => file.startsWith(`${area}/`));
}

function measureArea(area: string, files: readonly string[], all: ReadonlyMap<string, SourceFile>) {
  const trees = [...all].filter(([file]) => areaOf(file) === area);
  const at = (file: string, line: number) => `${file}:${line}`;
  return {
    area,
    folders: folderSizes(files.filter((file) => areaOf(file) === area)),
    fileLines: lengths(trees.map(([file, tree]) => ({ place: file, size: codeLines(tree).size }))),
    functionLines: lengths(
      trees.flatMap(([file, tree]) => functionSizes(tree).map(({ line, size }) => ({ place: at(file, line), size }))),
    ),
    wideComments: trees.flatMap(([file, tree]) => wideComments(tree).map((line) => at(file, line))),
    packedSpreads: trees.flatMap(([file, tree]) => packedSpreads(tree).map((line) => at(file, line))),
  };
}

function measureExports(trees: ReadonlyMap<string, SourceFile>, entries: readonly string[]): HouseMeasures["exports"] {
  const isOwner = (file: string) => areaOf(file) === "src";
  const own = new Map([...trees].filter(([file]) => isOwner(file)));
  const unimported = unimportedNames(trees, { isOwner, isUser: () => true, entries });
  const isUnimported = new Set(unimported.map(({ file, name }) => `${file} ${name}`));
  const outside = unimportedNames(trees, { isOwner, isUser: isOwner, entries });
  return {
    names: [...own.values()].reduce((sum, tree) => sum + exportedNames(tree).size, 0),
    shared: sharedNames(own),
    unimported,
    onlyOutside: outside.filter(({ file, name }) => !isUnimported.has(`${file} ${name}`)),
  };
}

/** Nearest rank: each figure is one of the sizes. All are 0 where there is nothing to measure. */
export function lengths(measured: readonly { place: string; size: number }[]): Lengths {
  const sorted = measured.toSorted((a, b) => a.size - b.size);
  const rank = (share: number) => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)];
  return {
    count: sorted.length,
    median: rank(0.5)?.size ?? 0,
    p90: rank(0.9)?.size ?? 0,
    max: rank(1)?.size ?? 0,
    longest: rank(1)?.place ?? "",
  };
}

/** The sources behind the exports of the package: what is built into dist comes from the file of that name in src. */
export function packageEntries(tree: string): string[] {
  const { exports: map = {} } = JSON.parse(read("package.json", tree));
  const targets = (value: unknown): string[] => {
    if (typeof value === "string") return [value];
    return typeof value === "object" && value !== null ? Object.values(value).flatMap(targets) : [];
  };
  const files = targets(map).map((path) =>
    path
      .replace(/^\.\//, "")
      .replace(/^dist\//, "src/")
      .replace(/(\.d)?\.(ts|js)$/, ".ts"),
  );
  return [...new Set(files)].filter((file) => file.endsWith(".ts") && existsSync(join(tree, file)));
}
