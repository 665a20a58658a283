/** `npm pack` in a clone that was never built, or was built long ago: what is packed is what this clone builds. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { entries } from "../../scripts/build/entries.ts";
import { run } from "../api/consumer.ts";
import { read, root } from "../ground/repository.ts";

setDefaultTimeout(180_000);

const clone = mkdtempSync(join(tmpdir(), "asyncagents-clone-"));
afterAll(() => rmSync(clone, { recursive: true, force: true }));

/** Left by an earlier build of another state of the sources. */
const STALE = [
  "dist/stale.js",
  "dist/claude/stale.d.ts",
  "dashboard/dist/assets/stale.js",
  "packages/client/dist/stale.js",
];

beforeAll(async () => {
  const [listed] = await run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], root);
  for (const file of listed.split("\0").filter((name) => name !== "" && existsSync(join(root, name)))) {
    cpSync(join(root, file), join(clone, file));
  }
  symlinkSync(join(root, "node_modules"), join(clone, "node_modules"));
  for (const file of STALE) {
    mkdirSync(dirname(join(clone, file)), { recursive: true });
    writeFileSync(join(clone, file), "stale");
  }
});

test("a package is built before it is packed, and nothing of an earlier build is left in any package", async () => {
  const [, errors, code] = await run(["npm", "pack", "--pack-destination", clone], join(clone, "packages/client"));
  expect([code, code === 0 ? "" : errors]).toEqual([0, ""]);
  const { version } = JSON.parse(read("packages/client/package.json"));
  const [packed] = await run(["tar", "-tzf", join(clone, `asyncagents-client-${version}.tgz`)], clone);
  const names = packed.trim().split("\n");
  for (const name of ["dist/client/index.js", "dist/client/index.d.ts", "LICENSE"]) {
    expect(names).toContain(`package/${name}`);
  }
  expect(names.filter((name) => name.includes("stale"))).toEqual([]);
  expect(STALE.filter((file) => existsSync(join(clone, file)))).toEqual([]);
});

test("every package is built before it is packed", () => {
  const folders = entries.flatMap(({ folder }) => folder ?? []);
  const scripts = ["package.json", ...folders.map((folder) => `${folder}/package.json`)].map(
    (file) => JSON.parse(read(file)).scripts.prepack,
  );
  expect(new Set(scripts)).toEqual(new Set(["node bin/launch.mjs build", "node ../../bin/launch.mjs build"]));
});
