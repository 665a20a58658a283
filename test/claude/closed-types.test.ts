import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

setDefaultTimeout(60_000);

const root = join(import.meta.dir, "../..");
let folder = "";
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test("a wrong literal for a status or a model does not compile, and the right ones do [CT-20]", async () => {
  folder = mkdtempSync(join(root, "node_modules/.closed-types-"));
  const config = {
    extends: join(root, "tsconfig.json"),
    files: [join(import.meta.dir, "closed-types.ts")],
    compilerOptions: { typeRoots: [join(root, "node_modules/@types")] },
    include: [],
  };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
  const child = Bun.spawn([process.execPath, join(root, "node_modules/typescript/bin/tsc"), "-p", folder], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  expect([await new Response(child.stdout).text(), await child.exited]).toEqual(["", 0]);
});
