/** `npm run packages`: each package from its tarball, in an empty folder. No `.test.ts`: it needs the npm registry. */
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { say } from "../../src/testing/models/script.ts";
import { compile, run } from "../api/consumer.ts";
import { consumerPrograms } from "../api/consumer-programs.ts";
import { root } from "../ground/repository.ts";
import { World } from "../scenarios/world.ts";
import { installPacked, removeInstalled } from "./installed-package.ts";

setDefaultTimeout(300_000);
afterAll(removeInstalled);

/** What a program of each package prints, and the most that it may install. */
const packages = [
  {
    name: "@asyncagents/claude",
    entry: "asyncagents/claude",
    source: "packages/claude",
    runtime: "node",
    limit: { count: 2, megabytes: 10 },
    program: `import { TaskManager } from "@asyncagents/claude"; console.log(new TaskManager().list().length);`,
    prints: "0",
  },
  {
    name: "@asyncagents/client",
    entry: "asyncagents/client",
    source: "packages/client",
    runtime: "node",
    limit: { count: 1, megabytes: 1 },
    program: `import { createClient } from "@asyncagents/client";
const failure = await createClient({ url: "http://127.0.0.1:1" }).health().catch((thrown) => thrown);
console.log(failure.code);`,
    prints: "host_unavailable",
  },
  {
    name: "@asyncagents/testing",
    entry: "asyncagents/testing",
    source: "packages/testing",
    runtime: process.execPath,
    limit: { count: 12, megabytes: 5 },
    program: `import { startOpenAiModel } from "@asyncagents/testing";
const model = startOpenAiModel(); console.log(new URL(model.url).hostname); await model.stop();`,
    prints: "127.0.0.1",
  },
  {
    name: "asyncagents",
    entry: "asyncagents",
    source: ".",
    options: ["--omit=optional"],
    runtime: "node",
    limit: { count: 8, megabytes: 40 },
    program: `import { createEngine, sqliteStore } from "asyncagents";
const failure = await sqliteStore({ directory: "/nowhere" }).catch((thrown) => thrown);
console.log(typeof createEngine, failure.code);`,
    prints: "function store_unavailable",
  },
];

/** Types that a program for Bun has anyway. */
const BUN_TYPES = ["@types/bun", "@types/node", "bun-types", "undici-types"];

describe.each(packages)("$name", ({ name, entry, source, options = [], runtime, limit, program, prints }) => {
  let installed: Awaited<ReturnType<typeof installPacked>>;

  test("installs within its limits", async () => {
    installed = await installPacked(source, options);
    console.log(`${name}: ${installed.count} packages, ${installed.megabytes.toFixed(1)} MB`);
    expect(installed.count).toBeLessThanOrEqual(limit.count);
    expect(installed.megabytes).toBeLessThanOrEqual(limit.megabytes);
  });

  test("runs", async () => {
    writeFileSync(join(installed.folder, "program.js"), program);
    expect(await run([runtime, "program.js"], installed.folder)).toEqual([`${prints}\n`, "", 0]);
  });

  test("has types that hold under strict settings, libraries included", async () => {
    const consumer = consumerPrograms.find((each) => each.entry === entry);
    if (name === "@asyncagents/testing") for (const each of BUN_TYPES) link(installed.folder, each);
    const text = consumer?.program.replaceAll(`"${entry}"`, `"${name}"`) ?? "";
    expect(text).toContain(`from "${name}"`);
    expect(await compile(installed.folder, text, consumer?.options)).toBe("");
  });
});

test("OpenCode loads the plugin from the tarball, and a background task of it ends with its notice", async () => {
  const { folder } = await installPacked(".", ["--omit=optional"]);
  const plugin = join(folder, "node_modules/asyncagents/src/opencode/server.ts");
  const world = await World.start({ plugin });
  try {
    const parent = await world.parent();
    const task = await parent.launch([say("from the tarball")]);
    expect((await world.ended(task)).run.result).toBe("from the tarball");
    expect((await parent.notice("from the tarball")).visible).toContain("finished in");
  } finally {
    await world.stop();
  }
});

function link(folder: string, name: string): void {
  const target = join(folder, "node_modules", name);
  mkdirSync(dirname(target), { recursive: true });
  symlinkSync(join(root, "node_modules", name), target);
}
