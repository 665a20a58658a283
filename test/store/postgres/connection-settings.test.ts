import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { connectionSettings } from "../../../src/store/postgres/connection-settings.ts";
import { temporaryFolders } from "../temporary-folder.ts";

const temporaryFolder = temporaryFolders();
const ADDRESS = "postgres://someone:secret-word@db.example:5432/tasks";

function settingsOf(parameters: string) {
  return connectionSettings(`${ADDRESS}?${parameters}`);
}

test("without parameters: no TLS, ten connections, and limits of time", () => {
  const { client, poolMax } = connectionSettings(ADDRESS);
  expect(poolMax).toBe(10);
  expect(client.ssl).toBeUndefined();
  expect(client).toMatchObject({ connectionString: ADDRESS, statement_timeout: 30_000, lock_timeout: 5_000 });
  expect(client.idle_in_transaction_session_timeout).toBeGreaterThan(0);
});

test("sslmode means what it means to psql, and the driver does not see it", () => {
  const certificate = join(temporaryFolder(), "root.pem");
  writeFileSync(certificate, "the certificate");
  expect(settingsOf("sslmode=disable").client.ssl).toBe(false);
  expect(settingsOf("sslmode=require").client.ssl).toEqual({ rejectUnauthorized: false });
  expect(settingsOf("sslmode=verify-full").client.ssl).toEqual({ rejectUnauthorized: true });
  const trusted = { ca: "the certificate", rejectUnauthorized: true };
  expect(settingsOf(`sslrootcert=${certificate}`).client.ssl).toEqual(trusted);
  expect(settingsOf(`sslmode=verify-full&sslrootcert=${certificate}`).client.ssl).toEqual(trusted);
  for (const mode of ["require", "verify-ca"]) {
    const { ssl, connectionString } = settingsOf(`sslmode=${mode}&sslrootcert=${certificate}`).client;
    expect(ssl).toMatchObject({ ...trusted, checkServerIdentity: expect.any(Function) });
    expect(connectionString).toBe(ADDRESS);
  }
});

test("the size of the pool can be set; other parameters are the driver's", () => {
  const { client, poolMax } = settingsOf("pool_max=25&application_name=mine");
  expect(poolMax).toBe(25);
  expect(client.connectionString).toBe(`${ADDRESS}?application_name=mine`);
});

test.each([
  "pool_max=2",
  "pool_max=many",
  "pool_max=1e9",
  "sslmode=prefer",
  "sslmode=always",
  "sslmode=require&sslrootcert=/nowhere/root.pem",
])("%s is refused, with what to write instead and without the password", (parameters) => {
  const refused = (() => {
    try {
      return settingsOf(parameters);
    } catch (thrown) {
      return thrown as Error & { code: string };
    }
  })() as Error & { code: string };
  expect(refused.code).toBe("store_unavailable");
  expect(refused.message).toMatch(/must be|Use|Name/);
  expect(refused.message).not.toContain("secret-word");
});

test("an address that cannot be read is refused without the password", () => {
  expect(() => connectionSettings("postgres://someone:secret#word@db:99999999/x")).toThrow(/percent-encoded/);
  expect(() => connectionSettings("postgres://someone:secret#word@db:99999999/x")).not.toThrow(/secret/);
});

test("what may be a part of a password is not shown as a parameter", () => {
  for (const [address, secret] of [
    ["postgres://me:4711?geheim@db.example.org/x", "geheim"],
    ["postgres://me:47?11#geheim@db.example.org/x", "11"],
    ["postgres://me:4711?geheim=x@db.example.org/x&y=1", "geheim"],
    ["postgres://me:4711?sslmode=geheim@db.example.org/x", "geheim"],
    ["postgres://me:4711?pool_max=geheim@db.example.org/x", "geheim"],
    ["postgres://me:4711?sslrootcert=geheim@db.example.org/x", "geheim"],
  ] as const) {
    expect(() => connectionSettings(address)).toThrow("percent-encoded");
    expect(() => connectionSettings(address)).not.toThrow(secret);
  }
  expect(settingsOf("user=me@example&application_name=mine").poolMax).toBe(10);
});

test("a parameter that nobody knows is an error that names the nearest one, and shows no password", () => {
  expect(() => settingsOf("poolmax=25")).toThrow('unknown parameter, "poolmax". Did you mean pool_max?');
  expect(() => settingsOf("sslmod=verify-full")).toThrow("Did you mean sslmode?");
  expect(() => settingsOf("nonsense=1")).toThrow("Known are sslmode, sslrootcert,");
  expect(() => settingsOf("nonsense=1")).not.toThrow("secret-word");
});
