/**
 * `npm run api`: writes the public surface of each entry to docs/api, from the emitted type declarations, and the JSON
 * schema of the configuration file. The tests compare the files with what the sources give, so that the surface does
 * not change unnoticed.
 */
import { readFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { configurationSchemaText } from "../src/configuration/json-schema.ts";
import { parse } from "../test/ground/syntax.ts";
import { type Declaration, type Surface, surfaceOf } from "./api/surface.ts";
import { dist, referredFrom } from "./build/declarations.ts";
import { type Entry, entries } from "./build/entries.ts";
import { build } from "./build.ts";

const root = dirname(import.meta.dir);

/** The published JSON schema of asyncagents.json, from the root. */
export const SCHEMA_FILE = "docs/asyncagents.schema.json";

/** Where the report about an entry is, from the root. */
export function reportFile({ name }: Entry): string {
  return `docs/api/${name.replace("/", "-")}.md`;
}

/** The surface of each entry, as the declarations in dist have it. */
export async function readSurfaces(): Promise<Map<Entry, Surface>> {
  const files = new Set(entries.flatMap(({ path }) => [...referredFrom(path)]));
  const trees = await parse(new Map([...files].map((file) => [file, readFileSync(join(dist, file), "utf8")])));
  return new Map(entries.map((entry) => [entry, surfaceOf(`${entry.path}.d.ts`, trees)]));
}

export function reportText({ name }: Entry, { exported, hidden }: Surface): string {
  const blocks = [
    `# \`${name}\``,
    "Generated from the type declarations by `npm run api`. Do not edit it: a test fails when it differs from the sources.",
    ...section(`${exported.length} exports`, exported),
    ...section("Used above, not exported", hidden),
  ];
  return `${blocks.join("\n\n")}\n`;
}

function section(title: string, declarations: readonly Declaration[]): string[] {
  if (declarations.length === 0) return [];
  return [
    `## ${title}`,
    ...declarations.map(({ name, text }) => {
      const isRenamed = !new RegExp(`\\b${name.replaceAll("$", "\\$")}\\b`).test(text.split("\n")[0] ?? "");
      return `\`\`\`ts\n${isRenamed ? `// as ${name}\n` : ""}${text}\n\`\`\``;
    }),
  ];
}

if (import.meta.main) {
  await build();
  await mkdir(join(root, "docs/api"), { recursive: true });
  for (const [entry, surface] of await readSurfaces()) {
    await Bun.write(join(root, reportFile(entry)), reportText(entry, surface));
    console.log(`${reportFile(entry)}: ${surface.exported.length} exports`);
  }
  await Bun.write(join(root, SCHEMA_FILE), configurationSchemaText());
  console.log(SCHEMA_FILE);
}
