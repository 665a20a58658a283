/**
 * The measures of a house as text: one table over the areas, then the lists that say where to look.
 * Prints nothing by itself.
 */
import type { SharedName } from "./exported-names.ts";
import { type AreaMeasures, FOLDER_FILES, type HouseMeasures } from "./house.ts";
import { COMMENT_COLUMNS } from "./line-tricks.ts";
import { BLOCK_LINES, type RepeatedBlock } from "./repeated-blocks.ts";

type Row = [label: string, value: (area: AreaMeasures) => number];

const rows: Row[] = [
  ["files with code", ({ fileLines }) => fileLines.count],
  ["files in the largest folder", ({ folders }) => folders[0]?.files ?? 0],
  [`folders over ${FOLDER_FILES} files`, (area) => crowdedFolders(area).length],
  ["file length, median", ({ fileLines }) => fileLines.median],
  ["file length, p90", ({ fileLines }) => fileLines.p90],
  ["file length, maximum", ({ fileLines }) => fileLines.max],
  ["functions", ({ functionLines }) => functionLines.count],
  ["function length, median", ({ functionLines }) => functionLines.median],
  ["function length, p90", ({ functionLines }) => functionLines.p90],
  ["function length, maximum", ({ functionLines }) => functionLines.max],
  [`repeated code (${BLOCK_LINES} lines or more)`, (area) => area.repeatedBlocks.length],
  [`comment lines over ${COMMENT_COLUMNS} columns`, (area) => area.wideComments.length],
  ["spreads that only pack lines", (area) => area.packedSpreads.length],
];

/** Figures of the exported names of src. */
const exportRows: [label: string, value: (house: HouseMeasures) => number][] = [
  ["names", ({ exports }) => exports.names],
  ["types declared in more than one file", ({ exports }) => exports.shared.filter(({ isType }) => isType).length],
  ["values declared in more than one file", ({ exports }) => exports.shared.filter(({ isType }) => !isType).length],
  ["imported by no other file", ({ exports }) => exports.unimported.length],
  ["imported only by files outside of src", ({ exports }) => exports.onlyOutside.length],
];

/** `verbose` adds the lists that are too long to read every time; `before` turns each figure into `before → now`. */
export function report(house: HouseMeasures, options: { verbose: boolean; before?: HouseMeasures }): string {
  const { before } = options;
  const between = figure(house.repeatedBetweenAreas.length, before?.repeatedBetweenAreas.length);
  return [
    ...table(house.areas, before?.areas),
    "",
    `Lengths are lines of code, without comments and blank lines. Repeated code between areas: ${between}.`,
    "",
    "Exported names of src",
    ...exportRows.map(([label, value]) => `  ${figure(value(house), before && value(before))} ${label}`),
    ...section("Longest", house.areas.flatMap(longest)),
    ...section(`Folders over ${FOLDER_FILES} files`, house.areas.flatMap(crowdedFolders).map(folderLine)),
    ...section("Exported names in more than one file", house.exports.shared.map(sharedLine)),
    ...(options.verbose ? details(house) : []),
  ].join("\n");
}

function figure(now: number, before: number | undefined): string {
  return before === undefined || before === now ? String(now) : `${before} → ${now}`;
}

function details({ areas, repeatedBetweenAreas, exports }: HouseMeasures): string[] {
  return [
    ...section("Exported names that no other file imports", exports.unimported.map(exportLine)),
    ...section("Exported names that only files outside of src import", exports.onlyOutside.map(exportLine)),
    ...section("Repeated code", areas.flatMap((area) => area.repeatedBlocks).map(blockLine)),
    ...section("Repeated code between areas", repeatedBetweenAreas.map(blockLine)),
    ...section(
      "Wide comments",
      areas.flatMap((area) => area.wideComments),
    ),
    ...section(
      "Spreads that only pack lines",
      areas.flatMap((area) => area.packedSpreads),
    ),
  ];
}

function table(areas: readonly AreaMeasures[], before: readonly AreaMeasures[] = []): string[] {
  const earlier = areas.map(({ area }) => before.find((other) => other.area === area));
  const cells = [
    ["", ...areas.map(({ area }) => area)],
    ...rows.map(([label, value]) => [
      label,
      ...areas.map((area, i) => figure(value(area), earlier[i] && value(earlier[i]))),
    ]),
  ];
  const width = (column: number) => Math.max(...cells.map((row) => row[column]?.length ?? 0));
  const widths = ["", ...areas].map((_, column) => width(column));
  return cells.map(([label = "", ...figures]) => {
    const padded = figures.map((text, i) => text.padStart(widths[i + 1] ?? 0));
    return [label.padEnd(widths[0] ?? 0), ...padded].join("  ").trimEnd();
  });
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ["", title, ...lines.map((line) => `  ${line}`)];
}

function crowdedFolders({ folders }: AreaMeasures) {
  return folders.filter(({ files }) => files > FOLDER_FILES);
}

function longest({ fileLines, functionLines }: AreaMeasures): string[] {
  return [
    `${fileLines.max} lines: ${fileLines.longest}`,
    `${functionLines.max} lines: function at ${functionLines.longest}`,
  ];
}

function folderLine({ folder, files }: { folder: string; files: number }): string {
  return `${files} in ${folder}`;
}

function sharedLine({ name, isType, files }: SharedName): string {
  return `${isType ? "type" : "value"} ${name}: ${files.join(", ")}`;
}

function exportLine({ file, name }: { file: string; name: string }): string {
  return `${name} in ${file}`;
}

function blockLine({ first, second, lines }: RepeatedBlock): string {
  return `${lines} lines: ${first.file}:${first.line} and ${second.file}:${second.line}`;
}
