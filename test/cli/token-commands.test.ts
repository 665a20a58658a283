import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type CliWorld, cliWorld } from "./cli-bed.ts";

/** Everything that the data folder holds, as text. */
function textsIn({ data }: CliWorld): string {
  const files = readdirSync(data, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.map(({ parentPath, name }) => readFileSync(join(parentPath, name), "latin1")).join("\n");
}

async function statusOf(url: string, token: string): Promise<number> {
  return (await fetch(`${url}/v1/tasks`, { headers: { authorization: `Bearer ${token}` } })).status;
}

test("a door to other machines opens with a token only, and closes to it when it is revoked", async () => {
  const world = cliWorld();
  const early = await world.cli("up", "--listen", "127.0.0.1:0");
  expect([early.code, early.err]).toEqual([1, expect.stringContaining("asyncagents token create")]);
  expect((await world.cli("up", "--listen", "somewhere")).code).toBe(2);
  expect((await world.cli("up", "--public-url", "https://a.example")).err).toContain("add --listen");
  // None of these started a daemon.
  expect((await world.cli("down")).out).toContain("No daemon is running");

  const ci = await world.json<{ token: string; id: string }>("token", "create", "--role", "launch", "--name", "ci");
  const said = await world.cli("token", "create", "--role", "read", "--name", "me", "--expires", "90d");
  expect(said.out).toMatch(/^aat_[\w-]{43}\n$/);
  const up = await world.cli("up", "--listen", "127.0.0.1:0");
  const url = /listens +(\S+)/.exec(up.out)?.[1] ?? "";
  expect([await statusOf(url, ci.token), await statusOf(url, said.out.trim())]).toEqual([200, 200]);
  expect((await world.cli("token", "revoke", ci.id.slice(0, 8))).out).toContain("Revoked ci");
  expect([await statusOf(url, ci.token), await statusOf(url, said.out.trim())]).toEqual([401, 200]);

  const again = await world.cli("token", "revoke", "ci");
  expect([again.code, again.err]).toEqual([1, expect.stringContaining("revoked before")]);
  const taken = await world.cli("token", "create", "--role", "admin", "--name", "ci");
  expect([taken.code, taken.err]).toEqual([1, expect.stringContaining("names are not given twice")]);
  type Listed = { tokens: { name: string; usable: boolean; lastUsedAt: string | null; expiresAt: string | null }[] };
  expect((await world.json<Listed>("token", "list")).tokens).toMatchObject([
    { name: "me", usable: true, lastUsedAt: expect.any(String), expiresAt: expect.any(String) },
  ]);
  expect((await world.cli("token", "list", "--all")).out).toMatch(/me +read +active[^\n]*\n[^\n]*ci +launch +revoked/);
  type Audit = { entries: { by: string; operation: string; subject: string; outcome: string }[] };
  const { entries } = await world.json<Audit>("audit");
  expect(
    entries.map(({ by, operation, subject, outcome }) => [by, operation, subject, outcome].join()).reverse(),
  ).toEqual([
    "local user,create_token,ci,done",
    "local user,create_token,me,done",
    "local user,revoke_token,ci,done",
    "local user,revoke_token,ci,failed",
    "local user,create_token,ci,failed",
  ]);
  for (const secret of [ci.token, said.out.trim()]) expect(textsIn(world)).not.toContain(secret);
}, 60_000);

test("a daemon that runs for this machine only says how to open the door", async () => {
  const world = cliWorld();
  await world.json("token", "create", "--role", "read", "--name", "me");
  await world.json("up");
  const refused = await world.cli("up", "--listen", "127.0.0.1:0");
  expect(refused.err).toContain("asyncagents restart --listen 127.0.0.1:0");
  const restarted = await world.json<{ listen: string | null }>("restart", "--listen", "127.0.0.1:0");
  expect(restarted.listen).toStartWith("http://127.0.0.1:");
  expect((await world.cli("up", "--listen", "127.0.0.1:0")).code).toBe(0);
  const elsewhere = await world.cli("up", "--listen", "127.0.0.1:1");
  expect([elsewhere.code, elsewhere.err]).toEqual([1, expect.stringContaining(`listens on ${restarted.listen}`)]);
  expect(elsewhere.err).toContain("asyncagents restart --listen 127.0.0.1:1");
  const closed = await world.cli("restart");
  expect([closed.code, closed.out]).toEqual([0, expect.not.stringContaining("listens")]);
  const { port } = new URL(restarted.listen ?? "");
  expect(closed.err).toContain(`asyncagents restart --listen 127.0.0.1:${port}`);
  // Nothing was closed.
  expect((await world.cli("restart")).err).toBe("");
}, 60_000);

test("what is wrong with a token's name, role or expiry is said, and agents create none", async () => {
  const world = cliWorld();
  const said = async (...words: string[]) => (await world.cli("token", "create", ...words)).err;
  expect(await said("--role", "read")).toContain("--name is required");
  expect(await said("--role", "read", "--name", "local user")).toContain("--name is required");
  for (const name of ["agent", "Agent"]) {
    expect(await said("--role", "read", "--name", name)).toContain("stands for any agent in the audit log");
  }
  expect(await said("--name", "a")).toContain("--role is required: one of read");
  expect(await said("--role", "root", "--name", "a")).toContain(
    '"root" is not a role: one of read, launch, answer, admin',
  );
  expect((await world.cli("token", "creat")).err).toContain('Did you mean "token create"?');
  expect(await said("--role", "read", "--name", "a", "--expires", "90")).toContain("such as 12h or 90d");
  const secret = "aat_0123456789012345678901234567890123456789abc";
  const revoked = await world.cli("token", "revoke", secret);
  expect([revoked.code !== 0, revoked.err.includes(secret)]).toEqual([true, false]);
  world.environment.ASYNCAGENTS_DEPTH = "1";
  expect(await said("--role", "admin", "--name", "a")).toContain("not agents");
  expect((await world.json<{ tokens: unknown[] }>("token", "list", "--all")).tokens).toEqual([]);
}, 60_000);

test("audit and show say who changed what: a person, or an agent in its shell", async () => {
  const world = cliWorld();
  const { id } = await world.json<{ id: string }>("run", "--host", "scripted", "--wait", "!say hello");
  await world.json("resume", id, "--wait", "!say again");
  world.environment.ASYNCAGENTS_DEPTH = "1";
  expect((await world.cli("cancel", id)).code).not.toBe(0);
  type Entry = { by: string; operation: string; subject: string | null; outcome: string };
  const { entries } = await world.json<{ entries: Entry[] }>("audit", id.slice(-8));
  expect(entries.map(({ by, operation, outcome, subject }) => [by, operation, outcome, subject])).toEqual([
    ["agent", "cancel", "failed", id],
    ["local user", "resume", "done", id],
    ["local user", "launch_task", "done", id],
  ]);
  expect((await world.cli("show", id)).out).toMatch(
    /changes +cancel by agent, \S+ ago \(failed\)\s+resume by local user/,
  );
  expect((await world.cli("audit")).out).toMatch(/WHEN +BY +OPERATION/);
}, 60_000);
