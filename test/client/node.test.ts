import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { programOutput } from "../../scripts/program-output.ts";
import { create } from "../../src/testing/sample-task.ts";
import { startApi } from "../http/bed/api-bed.ts";

/** What someone else's program would contain. */
const PROGRAM = `
import { createClient } from "./client.mjs";
const client = createClient({ url: process.argv[2] });
const { tasks, total } = await client.tasks({ search: "ship" });
const failure = await client.task("none").catch((thrown) => thrown.code);
for await (const event of client.events()) {
  console.log(JSON.stringify([total, tasks[0].description, failure, event.type, event.snapshot.total]));
  break;
}
`;

test("the client bundles for a browser without zod and runs on Node 20", async () => {
  const api = await startApi();
  await create(api.store, "one", { description: "ship it 🚀" });
  const folder = api.world.directory;
  const built = await Bun.build({
    entrypoints: [join(import.meta.dir, "../../src/client/client.ts")],
    target: "browser",
    format: "esm",
  });
  const text = (await built.outputs[0]?.text()) ?? "";
  expect(text).toContain("/v1/events");
  expect(text).not.toMatch(/zod|["'](node|bun):|\bBun\.|\brequire\(|\bimport\b/i);
  expect(text.length).toBeLessThan(20_000);

  writeFileSync(join(folder, "client.mjs"), text);
  writeFileSync(join(folder, "program.mjs"), PROGRAM);
  const { out, err, code } = await programOutput(["node", join(folder, "program.mjs"), api.url]);
  expect([err, code]).toEqual(["", 0]);
  expect(JSON.parse(out)).toEqual([1, "ship it 🚀", "task_not_found", "snapshot", 1]);
});
