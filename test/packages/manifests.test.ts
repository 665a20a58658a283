import { beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync } from "node:fs";
import { isBuiltin } from "node:module";
import { join } from "node:path";
import { packagesIn, referredFrom } from "../../scripts/build/declarations.ts";
import { entries } from "../../scripts/build/entries.ts";
import { build } from "../../scripts/build.ts";
import { run } from "../api/consumer.ts";
import { read, root } from "../ground/repository.ts";

setDefaultTimeout(60_000);
beforeAll(() => build());

interface Manifest {
  name: string;
  version: string;
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
  engines?: Record<string, string>;
}

const main: Manifest = JSON.parse(read("package.json"));
const packages = entries.flatMap(({ path, folder }) => {
  if (folder === undefined) return [];
  const manifest: Manifest = JSON.parse(read(`${folder}/package.json`));
  return [{ name: manifest.name, path, folder, manifest }];
});

/** The most that each package may hold, in kilobytes, without what it depends on. */
const LIMITS: Record<string, number> = {
  "@asyncagents/claude": 200,
  "@asyncagents/client": 180,
  "@asyncagents/testing": 540,
};

/** The packages that a built file or a declaration refers to, by name. */
async function imported(path: string): Promise<string[]> {
  const file = await Bun.file(join(root, "dist", `${path}.js`)).text();
  const loaded = Array.from(file.matchAll(/^(?:import|export)[^"']*["']([^"']+)["']|\bimport\("([^"]+)"\)/gm));
  const specifiers = [...loaded.map(([, plain, dynamic]) => plain ?? dynamic ?? ""), ...packagesIn(referredFrom(path))];
  const names = specifiers.map((name) => name.split("/", name.startsWith("@") ? 2 : 1).join("/"));
  return [...new Set(names)].filter((name) => !name.startsWith(".") && !isBuiltin(name) && !/^bun(:|$)/.test(name));
}

describe("the packages", () => {
  test("are those of the entries, and the main one", () => {
    const folders = readdirSync(join(root, "packages")).map((name) => `packages/${name}`);
    expect(folders.toSorted()).toEqual(packages.map(({ folder }) => folder).toSorted());
  });

  test.each(packages)(
    "$name has the version of the main package, and the versions that are tested here",
    ({ manifest }) => {
      expect(manifest.version).toBe(main.version);
      const known = { ...main.devDependencies, ...main.optionalDependencies, ...main.dependencies };
      for (const [name, version] of Object.entries(manifest.dependencies ?? {})) expect(known[name]).toBe(version);
    },
  );

  test.each(packages)("$name depends on what it imports, and on nothing else", async ({ path, manifest }) => {
    const names = await imported(path);
    const declared = [...Object.keys(manifest.dependencies ?? {}), ...Object.keys(manifest.peerDependencies ?? {})];
    expect(names.filter((name) => !declared.includes(name))).toEqual([]);
    expect(Object.keys(manifest.dependencies ?? {}).filter((name) => !names.includes(name))).toEqual([]);
  });

  test.each(packages)("$name holds its built files and no more than they need", async ({ name, path, folder }) => {
    const [out, , code] = await run(["npm", "pack", "--dry-run", "--json", "--ignore-scripts"], join(root, folder));
    expect(code).toBe(0);
    const [{ files, unpackedSize }] = JSON.parse(out);
    const found: string[] = files.map((file: { path: string }) => file.path);
    const built = [...referredFrom(path), `${path}.js`].map((file) => `dist/${file}`);
    expect(found.toSorted()).toEqual(["LICENSE", "README.md", "package.json", ...built].toSorted());
    expect(unpackedSize / 1000).toBeLessThan(LIMITS[name] ?? 0);
  });

  test("need no newer Node than they say", async () => {
    for (const name of Object.keys(main.dependencies ?? {})) {
      const { engines } = await Bun.file(join(root, "node_modules", name, "package.json")).json();
      const least = Number(/\d+/.exec(engines?.node ?? "0")?.[0]);
      expect([name, least <= Number(/\d+/.exec(main.engines?.node ?? "")?.[0])]).toEqual([name, true]);
    }
  });
});
