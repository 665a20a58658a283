import { Database } from "bun:sqlite";
import { afterAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { StoredSessions } from "../../bench/opencode/stored-sessions.ts";

const home = mkdtempSync(join(tmpdir(), "asyncagents-"));
const folder = join(home, ".local", "share", "opencode");
mkdirSync(folder, { recursive: true });
const database = new Database(join(folder, "opencode.db"));
database.run("PRAGMA journal_mode = WAL");
for (const table of ["session (id, version)", "message (session_id, data)", "part (session_id, data)"]) {
  database.run(`CREATE TABLE ${table}`);
}
const stored = new StoredSessions(home);
afterAll(() => {
  stored.close();
  database.close();
  rmSync(home, { recursive: true, force: true });
});

function add(table: "message" | "part", data: object): void {
  database.run(`INSERT INTO ${table} VALUES ('ses_1', ?)`, [JSON.stringify(data)]);
}

test("waits for complete answers of the model", async () => {
  add("message", { role: "user", time: { created: 1 } });
  add("message", { role: "assistant", time: { created: 1 } });
  let added = false;
  const waited = stored.answers("ses_1", 1).then(() => added);
  setImmediate(() => {
    added = true;
    add("message", { role: "assistant", time: { created: 1, completed: 2 } });
  });
  expect(await waited).toBe(true);
});

test("a call is timed by what OpenCode stored, and an unfinished one is not", () => {
  add("part", { type: "text", text: "task" });
  add("part", { type: "tool", tool: "task", state: { status: "completed", time: { start: 10, end: 25 } } });
  add("part", { type: "tool", tool: "bash", state: { status: "running", time: { start: 10 } } });
  expect(stored.callTime("ses_1", "task")).toBe(15);
  expect(() => stored.callTime("ses_1", "bash")).toThrow("bash did not complete in ses_1");
});

test("the version is the session's", () => {
  database.run("INSERT INTO session VALUES ('ses_1', '1.2.3')");
  expect(stored.version("ses_1")).toBe("1.2.3");
});
