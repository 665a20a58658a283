/**
 * `npm run build`: what the packages hold besides their sources: the dashboard (dashboard/dist), the entries as
 * JavaScript with type declarations and the panel in OpenCode (dist), and the packages that hold one entry each
 * (packages). Tests and the demo build what is missing or older than its sources, and nothing else.
 */
import { cp, rm, stat } from "node:fs/promises";
import { dirname, join, posix } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { Glob } from "bun";
import { DECLARATIONS, makeDeclarations, referredFrom } from "./build/declarations.ts";
import { type Entry, entries } from "./build/entries.ts";
import { bundlePanel } from "./build/panel.ts";
import { run } from "./build/run.ts";

const root = dirname(import.meta.dir);

interface Product {
  name: string;
  /** The file that is written last. */
  result: string;
  /** Patterns, one per entry: Bun's Glob finds nothing for braces that contain a slash. */
  sources: string[];
  /** Removes what an earlier build left. Done before anything is made: others read the same folder. */
  clear?(): Promise<void>;
  make(): Promise<void>;
}

/** They need nothing of each other. */
const parts: Product[] = [
  {
    name: "the dashboard",
    result: "dashboard/dist/index.html",
    sources: [
      "dashboard/*.*",
      "dashboard/src/**/*",
      "dashboard/public/**/*",
      "src/client/**/*",
      "src/protocol/**/*",
      "src/model/**/*",
      "package.json",
    ],
    async make() {
      await run([process.execPath, "node_modules/vite/bin/vite.js", "build", "--config", "dashboard/vite.config.ts"]);
      await compressFiles(join(root, "dashboard", "dist"));
    },
  },
  {
    name: "the type declarations",
    result: DECLARATIONS,
    sources: ["src/**/*", "package.json"],
    make: makeDeclarations,
  },
  ...entries.map((entry) => ({
    name: entry.name,
    result: `dist/${entry.path}.js`,
    sources: ["src/**/*.ts", "package.json"],
    clear: () => rm(join(root, "dist", chunksOf(entry)), { recursive: true, force: true }),
    make: () => bundle(entry),
  })),
  {
    name: "the panel in OpenCode",
    result: "dist/tui/panel.js",
    sources: [
      "src/tui/**/*",
      "src/client/**/*",
      "src/protocol/**/*",
      "src/model/**/*",
      "src/process/**/*",
      "package.json",
    ],
    make: () => bundlePanel(join(root, "src", "tui", "panel.tsx"), join(root, "dist", "tui")),
  },
];

/** What is copied from these. */
const packages: Product[] = entries.flatMap((entry) =>
  entry.folder === undefined ? [] : [packageOf(entry, entry.folder)],
);

/**
 * Builds what is out of date. With `always`, builds everything, and nothing of an earlier build stays: it would be
 * packed. Throws if something cannot be built.
 */
export async function build(options: { always?: boolean; say?(line: string): void } = {}): Promise<void> {
  // The other folders are emptied by what builds them.
  if (options.always) await rm(join(root, "dist"), { recursive: true, force: true });
  for (const products of [parts, packages]) {
    const areFresh = await Promise.all(products.map((product) => !options.always && isFresh(product)));
    const stale = products.filter((_, index) => !areFresh[index]);
    await Promise.all(stale.map((product) => product.clear?.()));
    await Promise.all(
      stale.map((product) => {
        options.say?.(`building ${product.name}`);
        return product.make();
      }),
    );
  }
}

async function isFresh({ result, sources }: Product): Promise<boolean> {
  const made = await stat(join(root, result)).catch(() => null);
  if (!made) return false;
  const found = sources.map((pattern) => Array.fromAsync(new Glob(pattern).scan({ cwd: root })));
  const files = (await Promise.all(found)).flat();
  const changed = await Promise.all(files.map(async (file) => (await stat(join(root, file))).mtimeMs));
  return Math.max(...changed) <= made.mtimeMs;
}

/** Written beside each file that becomes much smaller: Brotli, and gzip for older clients. */
async function compressFiles(folder: string): Promise<void> {
  for await (const name of new Glob("**/*.{js,css,html,svg}").scan({ cwd: folder })) {
    const file = join(folder, name);
    const content = Buffer.from(await Bun.file(file).arrayBuffer());
    await Bun.write(`${file}.br`, brotliCompressSync(content));
    await Bun.write(`${file}.gz`, gzipSync(content, { level: 9 }));
  }
}

/** The package of a single entry: copies of its JavaScript and of the declarations that it refers to. */
function packageOf({ path }: Entry, folder: string): Product {
  const result = `${folder}/dist/${path}.js`;
  return {
    name: folder,
    result,
    sources: [`dist/${path}.js`, DECLARATIONS, "LICENSE"],
    async make() {
      await rm(join(root, folder, "dist"), { recursive: true, force: true });
      await cp(join(root, "LICENSE"), join(root, folder, "LICENSE"));
      for (const file of [...referredFrom(path), `${path}.js`]) {
        await cp(join(root, "dist", file), join(root, folder, "dist", file));
      }
    },
  };
}

function chunksOf({ path }: Entry): string {
  return `${posix.dirname(path)}/chunks`;
}

/** One file of JavaScript, and beside it the parts that are loaded only when they are needed. */
async function bundle(entry: Entry): Promise<void> {
  const { name, path, target, isBundled } = entry;
  const result = await Bun.build({
    entrypoints: [join(root, "src", `${path}.ts`)],
    outdir: join(root, "dist"),
    root: join(root, "src"),
    naming: { chunk: `${chunksOf(entry)}/[name]-[hash].[ext]` },
    target,
    format: "esm",
    splitting: true,
    ...(!isBundled && { packages: "external" }),
  });
  if (!result.success) throw new Error(`${name} could not be bundled: ${result.logs.join("\n")}`);
}

if (import.meta.main) {
  try {
    await build({ always: true, say: (line) => console.log(line) });
  } catch (thrown) {
    console.error(thrown instanceof Error ? thrown.message : thrown);
    process.exit(1);
  }
}
