import { expect, test } from "bun:test";
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createClient } from "../../src/client/client.ts";
import { DailyBackup } from "../../src/daemon/daily-backup.ts";
import { backupsIn } from "../../src/store/sqlite-files/backups.ts";
import { cliWorld } from "./cli-bed.ts";

test("every interface reports a damaged store loudly, and the board comes back from the backup", async () => {
  const world = cliWorld();
  await world.json("project", "add", "Shop");
  await world.json("store", "backup");
  await world.json("project", "add", "Later");
  await world.json("down");
  const file = join(world.data, "asyncagents.db");
  writeFileSync(file, Buffer.alloc(100_000, "not a database "));

  const listed = await world.cli("project", "ls");
  expect(listed.out).toContain("Shop");
  expect((await world.cli("ls")).err).toContain("The task store was damaged");
  const doctor = await world.cli("doctor");
  expect(doctor.code).toBe(1);
  expect(doctor.out).toContain("was damaged");
  const { url, token } = JSON.parse(await Bun.file(join(world.data, "server.json")).text());
  expect(await createClient({ url, token }).troubles()).toMatchObject([{ kind: "store_damaged" }]);
  expect(readdirSync(world.data).filter((name) => name.includes(".db.damaged-")).length).toBe(1);

  expect((await world.cli("store", "dismiss")).code).toBe(0);
  expect((await world.cli("ls")).err).not.toContain("damaged");
  expect((await world.cli("doctor")).code).toBe(0);
}, 60_000);

test("a backup is restored by name, only on request, and not while the daemon runs", async () => {
  const world = cliWorld();
  await world.json("project", "add", "Shop");
  const { name } = await world.json<{ name: string }>("store", "backup");
  await world.json("project", "add", "Later");
  const busy = await world.cli("store", "restore", name, "--yes");
  expect(busy.code).not.toBe(0);
  expect(busy.err).toContain("asyncagents down");
  await world.json("down");
  expect((await world.cli("store", "restore")).out).toContain(`asyncagents store restore ${name} --yes`);
  expect((await world.cli("project", "ls")).out).toContain("Later");
  await world.json("down");
  const { setAside } = await world.json<{ setAside: string }>("store", "restore", "--yes");
  expect(existsSync(setAside)).toBe(true);
  const { out } = await world.cli("project", "ls");
  expect(out).toContain("Shop");
  expect(out).not.toContain("Later");
  expect((await world.cli("store", "restore", "nothing.db")).err).toContain("asyncagents store status");
}, 60_000);

test("the daemon makes a backup when the newest is a day old, and not before", async () => {
  const world = cliWorld();
  await world.json("project", "add", "Shop");
  const made = async (ageMs: number) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const log = { info: () => resolve(), error: () => resolve() };
    const backup = new DailyBackup(world.data, log, { firstMs: 0, everyMs: 20, ageMs });
    await promise;
    backup.stop();
  };
  await made(86_400_000);
  expect(backupsIn(world.data).length).toBe(1);
}, 60_000);
