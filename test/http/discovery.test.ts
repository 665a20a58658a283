import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import manifest from "../../package.json" with { type: "json" };
import { announce, livingServers, type ServerRecord } from "../../src/http/discovery.ts";
import { ownIdentity, type ProcessIdentity } from "../../src/process/liveness.ts";
import { newWorld, type World } from "../engine/engine-bed.ts";
import { serverRecord, startApi } from "./bed/api-bed.ts";
import { startChild } from "./bed/api-child.ts";

const own = { port: 5165, url: "http://127.0.0.1:5165", token: "secret", version: "1" };
const early = {
  ...own,
  kind: "plugin" as const,
  postgres: null,
  listen: null,
  telemetry: null,
  startedAt: "2026-01-01T00:00:00.000Z",
};

let world: World;
let directory: string;

beforeEach(() => {
  world = newWorld();
  directory = world.directory;
});

function write(name: string, content: unknown): void {
  mkdirSync(join(directory, "servers"), { recursive: true });
  writeFileSync(join(directory, name), typeof content === "string" ? content : JSON.stringify(content));
}

const LIVENESS = join(import.meta.dir, "../../src/process/liveness.ts");
const WAITING = `console.log(JSON.stringify(require(${JSON.stringify(LIVENESS)}).ownIdentity())); process.stdin.resume()`;

/** Another process, which lives as long as these tests. */
const waiting = Bun.spawn([process.execPath, "-e", WAITING], { stdio: ["pipe", "pipe", "inherit"] });
let other: ProcessIdentity;

beforeAll(async () => {
  const { value } = await waiting.stdout.getReader().read();
  other = JSON.parse(new TextDecoder().decode(value));
});

afterAll(async () => {
  waiting.kill();
  await waiting.exited;
});

function neighbour(fields: Partial<ServerRecord> = {}): ServerRecord {
  return { ...early, ...other, ...fields };
}

describe("the announcement", () => {
  test("of a server says where it is, to its owner only", async () => {
    const api = await startApi({ world });
    const record = serverRecord(directory);
    expect(record).toEqual({
      port: api.server.port,
      url: api.url,
      token: api.token,
      version: manifest.version,
      ...ownIdentity(),
      startedAt: new Date(record.startedAt).toISOString(),
      kind: "plugin",
      postgres: null,
      listen: null,
      telemetry: null,
    });
    expect(serverRecord(directory, `servers/${process.pid}.json`)).toEqual(record);
    for (const file of ["server.json", `servers/${process.pid}.json`]) {
      expect(statSync(join(directory, file)).mode & 0o777).toBe(0o600);
    }
    expect(statSync(join(directory, "servers")).mode & 0o777).toBe(0o700);
    expect((await fetch(`${record.url}/v1/health`)).status).toBe(200);
    await api.server.stop();
    expect([existsSync(join(directory, "server.json")), readdirSync(join(directory, "servers"))]).toEqual([false, []]);
  });

  test("replaces files that others could read or that are incomplete", () => {
    write("server.json", "{");
    write(`servers/${process.pid}.json`, "half");
    write(`server.json.${process.pid}.tmp`, "left by a crash");
    announce(directory, early);
    expect(serverRecord(directory).pid).toBe(process.pid);
    expect(statSync(join(directory, "server.json")).mode & 0o777).toBe(0o600);
    expect(readdirSync(directory).filter((name) => name.endsWith(".tmp"))).toEqual([]);
  });

  test("removes what dead processes left, and nothing else", () => {
    write("servers/999999999.json", neighbour({ pid: 999_999_999 }));
    write("servers/12.json", neighbour({ pid: other.pid, processStart: "1" }));
    write("servers/13.json", neighbour({ bootId: "another boot" }));
    write("servers/14.json", "garbage");
    write("servers/15.json", { pid: process.pid });
    write("servers/notes.txt", "mine");
    write(`servers/${other.pid}.json`, neighbour());
    mkdirSync(join(directory, "servers", "16.json.d"));
    announce(directory, early);
    const left = readdirSync(join(directory, "servers")).sort();
    expect(left).toEqual(["16.json.d", "notes.txt", `${process.pid}.json`, `${other.pid}.json`].sort());
  });

  test("garbage beside it is not mistaken for a server", () => {
    mkdirSync(join(directory, "servers", "17.json"), { recursive: true });
    write("servers/18.json", "null");
    write("servers/19.json", "[]");
    expect(livingServers(directory)).toEqual([]);
    expect(livingServers(join(directory, "nowhere"))).toEqual([]);
    announce(directory, early);
    expect(livingServers(directory).map(({ pid }) => pid)).toEqual([process.pid]);
  });

  test("lists the live ones, newest first", () => {
    announce(directory, early);
    write(`servers/${other.pid}.json`, neighbour({ startedAt: "2026-02-01T00:00:00.000Z" }));
    expect(livingServers(directory).map(({ pid }) => pid)).toEqual([other.pid, process.pid]);
  });
});

describe("a withdrawal", () => {
  test("passes server.json to the newest live server", () => {
    const { withdraw } = announce(directory, early);
    write(`servers/${other.pid}.json`, neighbour({ token: "other" }));
    write("servers/999999999.json", neighbour({ pid: 999_999_999, startedAt: "2027-01-01T00:00:00.000Z" }));
    withdraw();
    expect(serverRecord(directory)).toMatchObject({ pid: other.pid, token: "other" });
    expect(statSync(join(directory, "server.json")).mode & 0o777).toBe(0o600);
    withdraw();
    expect(serverRecord(directory).pid).toBe(other.pid);
  });

  test("leaves server.json alone if it belongs to another", () => {
    const { withdraw } = announce(directory, early);
    write("server.json", neighbour());
    withdraw();
    expect(serverRecord(directory).pid).toBe(other.pid);
    expect(existsSync(join(directory, "servers", `${process.pid}.json`))).toBe(false);
  });

  test("twice, or after the folder is gone, does no harm", () => {
    const { withdraw } = announce(directory, early);
    withdraw();
    withdraw();
    expect(existsSync(join(directory, "server.json"))).toBe(false);
    const gone = announce(join(directory, "deeper"), early);
    world.close();
    expect(() => gone.withdraw()).not.toThrow();
  });
});

test("the newest of several real processes is found; when it exits, the other one is again", async () => {
  const api = await startApi({ world });
  const child = await startChild(world);
  expect(serverRecord(directory)).toMatchObject({ pid: child.pid, url: child.url });
  await child.end();
  expect(serverRecord(directory)).toMatchObject({ pid: process.pid, url: api.url });
  const killed = await startChild(world);
  await killed.kill();
  expect(livingServers(directory).map(({ pid }) => pid)).toEqual([process.pid]);
});
