/**
 * `npm run build`: everything in the package besides its sources: the dashboard (dashboard/dist), the client for Node
 * and browsers (dist/client) and the Claude task library for Node (dist/claude). Tests and the demo build only what
 * is missing or older than its sources.
 */
import { mkdir, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { Glob } from "bun";

const root = dirname(import.meta.dir);

interface Product {
  name: string;
  /** The file that is written last. */
  result: string;
  /** Patterns, one per entry: Bun's Glob finds nothing for braces that contain a slash. */
  sources: string[];
  make(): Promise<void>;
}

const products: Product[] = [
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
    name: "the client",
    result: "dist/client/client.js",
    sources: ["src/client/**/*", "src/protocol/**/*", "src/model/**/*", "package.json"],
    make: () => makeLibrary({ folder: "client", entry: "client.ts", target: "browser" }),
  },
  {
    name: "the Claude task library",
    result: "dist/claude/index.js",
    sources: ["src/claude/**/*", "src/process/**/*", "src/model/**/*", "package.json"],
    make: () => makeLibrary({ folder: "claude", entry: "index.ts", target: "node", packages: "external" }),
  },
];

/** Builds what is out of date, or everything with `always`. Throws if something cannot be built. */
export async function build(options: { always?: boolean; say?(line: string): void } = {}): Promise<void> {
  for (const product of products) {
    if (!options.always && (await isFresh(product))) continue;
    options.say?.(`building ${product.name}`);
    await product.make();
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

interface Library {
  /** Entries, relative to src and to dist. */
  folder: string;
  entry: string;
  target: "browser" | "node";
  /** External because the package's dependencies are installed beside it. */
  packages?: "external";
}

/** One JavaScript file, and the type declarations of all its modules. */
async function makeLibrary({ folder, entry, target, packages }: Library): Promise<void> {
  const outdir = join(root, "dist", folder);
  await rm(outdir, { recursive: true, force: true });
  await mkdir(outdir, { recursive: true });
  await run([process.execPath, "node_modules/typescript/bin/tsc", "-p", `src/${folder}/tsconfig.json`]);
  const bundle = await Bun.build({
    entrypoints: [join(root, "src", folder, entry)],
    target,
    format: "esm",
    ...(packages && { packages }),
  });
  const [output] = bundle.outputs;
  if (!bundle.success || !output) throw new Error(`${folder} could not be bundled: ${bundle.logs.join("\n")}`);
  await Bun.write(join(outdir, entry.replace(/\.ts$/, ".js")), output);
}

async function run(command: string[]): Promise<void> {
  const child = Bun.spawn(command, { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
  const [out, errors, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  if (code !== 0) throw new Error(`${command.join(" ")} ended with ${code}:\n${out}${errors}`);
}

if (import.meta.main) {
  try {
    await build({ always: true, say: (line) => console.log(line) });
  } catch (thrown) {
    console.error(thrown instanceof Error ? thrown.message : thrown);
    process.exit(1);
  }
}
