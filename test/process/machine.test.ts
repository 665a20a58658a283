import { expect, test } from "bun:test";
import { readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isSameMachine, machineOf } from "../../src/process/machine.ts";
import { temporaryFolders } from "../store/temporary-folder.ts";

const temporaryFolder = temporaryFolders();

test("the identity of a data folder is made once, also by processes at the same time, and only for its owner", async () => {
  const folder = join(temporaryFolder(), "data");
  const script = `console.log((await import(${JSON.stringify(join(import.meta.dir, "../../src/process/machine.ts"))})).machineOf(${JSON.stringify(folder)}))`;
  const made = await Promise.all(
    Array.from({ length: 4 }, () =>
      new Response(Bun.spawn([process.execPath, "-e", script], { stdout: "pipe" }).stdout).text(),
    ),
  );
  expect(new Set(made.map((text) => text.trim()))).toEqual(new Set([machineOf(folder)]));
  expect(readdirSync(folder)).toEqual(["machine"]);
  expect(statSync(join(folder, "machine")).mode & 0o777).toBe(0o600);
  expect(machineOf(temporaryFolder())).not.toBe(machineOf(folder));
});

test("a damaged identity is not replaced silently: tasks that ran under it would be given up", () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "machine"), "");
  expect(() => machineOf(folder)).toThrow("Delete the file");
});

test("an unknown machine may be any", () => {
  expect([isSameMachine("a", "a"), isSameMachine("", "a"), isSameMachine("a", ""), isSameMachine("a", "b")]).toEqual([
    true,
    true,
    true,
    false,
  ]);
});
