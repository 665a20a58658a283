import { expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { closeSync, mkdirSync, openSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { type CliWorld, cliWorld } from "./cli-bed.ts";

const SIZE = "8m";

/** A separate disk; needs root, as in a container. Returns a function that removes it. */
function mountSmallDisk(path: string): () => void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  execFileSync("mount", ["-t", "tmpfs", "-o", `size=${SIZE},mode=0700`, "tmpfs", path]);
  return () => execFileSync("umount", ["-l", path]);
}

function fill(file: string): void {
  const handle = openSync(file, "w");
  const block = Buffer.alloc(4096);
  try {
    for (;;) writeSync(handle, block);
  } catch (thrown) {
    expect((thrown as { code?: string }).code).toBe("ENOSPC");
  } finally {
    closeSync(handle);
  }
}

test("on a full disk every command says so, and work continues when there is space again", async () => {
  const world = cliWorld();
  const unmount = mountSmallDisk(world.data);
  try {
    await useFullDisk(world);
  } finally {
    await world.cli("down", "--force");
    unmount();
  }
}, 120_000);

async function useFullDisk(world: CliWorld): Promise<void> {
  const { id } = await world.json<{ id: string }>("run", "--host", "scripted", "Waits\n!wait go\n!say done");
  const other = await world.json<{ id: string }>("run", "--host", "scripted", "Asks\n!ask What?");
  const asking = world.start(["wait", other.id]);
  await asking.said("What?");
  const filler = join(world.data, "filler");
  fill(filler);

  const waiting = world.start(["wait", id]);
  await waiting.said("is full");
  await asking.said("is full");
  writeFileSync(join(world.work, "go"), "");
  const refused = await world.cli("run", "--host", "scripted", "more");
  expect(refused.code).not.toBe(0);
  expect(refused.err).toContain("Free some space");
  const cancelled = await world.cli("cancel", other.id);
  expect(`${cancelled.out}${cancelled.err}`).toContain("is full");
  expect(`${cancelled.out}${cancelled.err}`).not.toContain("Something went wrong");
  const doctor = await world.cli("doctor");
  expect(doctor.code).toBe(1);
  expect(doctor.out).toContain("is full");
  expect(doctor.out).not.toContain("aside");

  rmSync(filler);
  expect((await waiting.ended).code).toBe(0);
  expect((await asking.ended).out).toContain("cancelled");
  expect(await world.json("show", id)).toMatchObject({ status: "completed", result: "done" });
}
