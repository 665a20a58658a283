/**
 * `npm run build`: what the package holds besides its sources: the dashboard (dashboard/dist) and the client for Node and
 * browsers (dist/client). Tests and the demo build what is missing or older than its sources, and nothing else.
 */
import { mkdir, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Glob } from "bun";

const root = dirname(import.meta.dir);

interface Product {
  name: string;
  /** The file that is written last. */
  result: string;
  sources: string;
  make(): Promise<void>;
}

const products: Product[] = [
  {
    name: "the dashboard",
    result: "dashboard/dist/index.html",
    sources: "{dashboard/*.*,dashboard/{src,public}/**/*,src/client/*,src/model/*,package.json}",
    make: () =>
      run([process.execPath, "node_modules/vite/bin/vite.js", "build", "--config", "dashboard/vite.config.ts"]),
  },
  {
    name: "the client",
    result: "dist/client/client.js",
    sources: "{src/client/*,src/model/*,package.json}",
    make: makeClient,
  },
];

/** Builds what is not up to date; all of it where `always` is given. Throws where something cannot be built. */
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
  const files = await Array.fromAsync(new Glob(sources).scan({ cwd: root }));
  const changed = await Promise.all(files.map(async (file) => (await stat(join(root, file))).mtimeMs));
  return Math.max(...changed) <= made.mtimeMs;
}

async function makeClient(): Promise<void> {
  const outdir = join(root, "dist");
  await rm(outdir, { recursive: true, force: true });
  await mkdir(outdir);
  await run([process.execPath, "node_modules/typescript/bin/tsc", "-p", "src/client/tsconfig.json"]);
  const bundle = await Bun.build({
    entrypoints: [join(root, "src/client/client.ts")],
    target: "browser",
    format: "esm",
  });
  const [output] = bundle.outputs;
  if (!bundle.success || !output) throw new Error(`The client could not be bundled: ${bundle.logs.join("\n")}`);
  await Bun.write(join(outdir, "client", "client.js"), output);
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
