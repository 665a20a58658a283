import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "pg";
import { readConfiguration } from "../../src/configuration/configuration.ts";
import { holdStorage } from "../../src/opencode/storage.ts";
import { cliWorld } from "../cli/cli-bed.ts";
import { startPostgresServer } from "../store/postgres-server.ts";

const server = await startPostgresServer();
const { connectionString } = server;
const PASSWORD = "password";

async function asAdministrator(...statements: string[]): Promise<void> {
  const client = new Client({ connectionString });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}

function worldOn(store: string) {
  const world = cliWorld();
  world.environment.ASYNCAGENTS_STORE = store;
  return world;
}

describe("a daemon with ASYNCAGENTS_STORE", () => {
  test("runs tasks in PostgreSQL, and another one with its own data folder sees them", async () => {
    const [first, second] = [worldOn(connectionString), worldOn(connectionString)];
    const { id } = await first.json<{ id: string }>("run", "--host", "scripted", "Says\n!say from the first");
    expect((await first.cli("wait", id)).code).toBe(0);
    expect(await second.json("show", id)).toMatchObject({ status: "completed", result: "from the first" });
    const other = await second.json<{ id: string }>("run", "--host", "scripted", "Waits\n!wait go.txt");
    expect(await first.json("show", other.id)).toMatchObject({ status: "running" });
    // What one of them asks for goes through the store, and the one that drives the task does it.
    expect((await first.cli("cancel", other.id)).code).toBe(0);
    expect(await second.json("show", other.id)).toMatchObject({ status: "cancelled" });
    for (const { data } of [first, second]) {
      for (const file of ["asyncagents.db", "tasks.json"]) expect(existsSync(join(data, file))).toBe(false);
      expect(readFileSync(join(data, "asyncagents.log"), "utf8")).not.toContain(PASSWORD);
    }
  }, 60_000);

  test("says which store is used, never with the password", async () => {
    const world = worldOn(connectionString);
    const shown = connectionString.replace(`:${PASSWORD}@`, "@");
    expect(await world.json("up")).toMatchObject({ postgres: shown });
    const said = [await world.cli("up"), await world.cli("store", "status"), await world.cli("doctor")];
    for (const { out, err } of said) {
      expect(out).toContain(shown);
      expect(out + err).not.toContain(PASSWORD);
    }
    const refused = await world.cli("store", "backup");
    expect([refused.code, refused.err]).toEqual([2, expect.stringContaining("pg_dump")]);
    delete world.environment.ASYNCAGENTS_STORE;
    for (const command of ["ls", "up"]) {
      const { err } = await world.cli(command);
      expect(err).toContain(`The daemon keeps its tasks in ${shown}`);
      // A restart would take the tasks away: it is not the first advice.
      expect(err).toMatch(/Set ASYNCAGENTS_STORE here .*asyncagents restart/);
    }
    const queued = await world.cli("run", "--queue", "--host", "scripted", "Waits");
    expect([queued.code, queued.err]).toEqual([0, expect.stringContaining("a runner of this shell would not see it")]);
    expect(queued.err).not.toContain("Start one");
    const doctor = await world.cli("doctor");
    expect([doctor.code, doctor.out]).toEqual([
      1,
      expect.stringMatching(/✗ daemon +The daemon keeps its tasks in postgres.*, and this command would use SQLite/),
    ]);
    const onStore = [
      ["token", "create", "--name", "ci", "--role", "read"],
      ["token", "list"],
      ["prune", "--keep", "9"],
    ];
    for (const words of [...onStore, ["store", "status"], ["store", "backup"]]) {
      const { code, err } = await world.cli(...words);
      expect([words, code, err]).toEqual([words, 0, expect.stringContaining("This command uses SQLite")]);
      expect(err).toContain(`the daemon keeps its tasks in ${shown}`);
    }
    const moved = await world.cli("restart");
    expect([moved.code, moved.err]).toEqual([0, expect.stringContaining(`kept its tasks in ${shown}`)]);
    expect((await world.cli("restart")).err).toBe("");
  }, 60_000);

  test("that cannot start says why this start failed, not why earlier ones did", async () => {
    const world = worldOn(connectionString.replace(/postgres$/, "nowhere"));
    expect((await world.cli("up")).err).toContain('"nowhere" does not exist');
    world.environment.ASYNCAGENTS_STORE = connectionString.replace(`:${PASSWORD}@`, ":other@");
    const { code, err } = await world.cli("up");
    expect([code, err]).toEqual([5, expect.stringContaining("Check the user and the password")]);
    expect(err).not.toContain("nowhere");
  }, 60_000);

  test("doctor names the right that is missing, and does not have a daemon restarted that waits for its database", async () => {
    const own = new URL(connectionString);
    [own.username, own.pathname] = ["team", "/team"];
    await asAdministrator(`create role team login password '${PASSWORD}'`, "create database team");
    const world = worldOn(own.href);
    const lacking = await world.cli("doctor");
    expect([lacking.code, lacking.out]).toEqual([
      1,
      expect.stringContaining("Have an administrator run: grant create on database team to team"),
    ]);
    await asAdministrator("grant create on database team to team");
    expect((await world.cli("up")).code).toBe(0);
    await asAdministrator(
      "alter role team nologin",
      "select pg_terminate_backend(pid) from pg_stat_activity where usename = 'team'",
    );
    const { out } = await world.cli("doctor");
    expect(out).toContain("Do not restart it");
    expect(out).not.toContain("down --force");
    await asAdministrator("alter role team login");
  }, 60_000);

  test("that lost its database is not to be restarted: doctor says that it goes on by itself", async () => {
    const world = worldOn(connectionString);
    expect((await world.cli("up")).code).toBe(0);
    await server.stop();
    const { code, out } = await world.cli("doctor");
    const up = await world.cli("up");
    await server.start();
    expect([up.code, up.err]).toEqual([0, expect.stringMatching(/waits for its store\. Do not restart it/)]);
    expect((await world.cli("up")).err).toBe("");
    expect(code).toBe(1);
    expect(out).toMatch(/✗ store .*cannot be used[^→]*→ Start the database.*go on by themselves/);
    expect(out).toMatch(/✗ daemon .*waits for its store[^→]*→ Do not restart it/);
    expect(out).not.toMatch(/down|ASYNCAGENTS_STORE/);
    expect((await world.cli("ls")).code).toBe(0);
  }, 60_000);

  test("shares it with the plugin", async () => {
    const world = worldOn(connectionString);
    const { id } = await world.json<{ id: string }>("run", "--host", "scripted", "Says\n!say hello");
    const environment = { ASYNCAGENTS_STORE: connectionString, ASYNCAGENTS_API_ENABLED: "false" };
    const directory = join(world.folder, "plugin");
    const configuration = readConfiguration({ directory, environment });
    const { store, release } = await holdStorage(directory, { info() {}, error() {} }, configuration);
    expect((await store.task(id))?.id).toBe(id);
    await release(null);
  }, 60_000);

  test("gets what the plugin's last runs show before the plugin closes it", async () => {
    const world = worldOn(connectionString);
    const { id } = await world.json<{ id: string }>("run", "--host", "scripted", "Says\n!say hello");
    const environment = { ASYNCAGENTS_STORE: connectionString, ASYNCAGENTS_API_ENABLED: "false" };
    const hold = (name: string) => {
      const directory = join(world.folder, name);
      return holdStorage(directory, { info() {}, error() {} }, readConfiguration({ directory, environment }));
    };
    const [plugin, other] = [await hold("plugin"), await hold("other")];
    const task = await plugin.store.task(id);
    if (task === null) throw new Error("the task is gone");
    plugin.keeper?.keep(task, "diff", () => Bun.sleep(50).then(() => ({ repos: [] })));
    await plugin.release(null);
    expect(await other.store.transcripts.get(id, "diff")).toMatchObject({ taskId: id });
    await other.release(null);
  }, 60_000);

  test("reports an address that cannot be used, with what to do", async () => {
    const addresses = [
      "mysql://someone:secret-word@host/db",
      "postgres://someone:secret-word#1@host/db",
      "postgres://someone:12/secret-word@host/db",
    ];
    for (const address of addresses) {
      const world = worldOn(address);
      for (const words of [["ls"], ["doctor"], ["store", "status"]]) {
        const { code, out, err } = await world.cli(...words);
        expect(code).not.toBe(0);
        expect(out + err).toContain("ASYNCAGENTS_STORE");
        expect(out + err).toContain("postgres://user:password@host:5432/database");
        expect(out + err).not.toContain("secret-word");
      }
    }
  }, 60_000);
});
