import { Database as Sqlite } from "bun:sqlite";
import { expect, onTestFinished, test } from "bun:test";
import { join } from "node:path";
import type { Approval } from "../../src/model/approval.ts";
import { sqliteStore } from "../../src/store/open.ts";
import { fillBoard, sampleSession } from "../../src/testing/sample-board.ts";
import { temporaryFolders } from "./temporary-folder.ts";

const temporaryFolder = temporaryFolders();

async function newStore() {
  const store = await sqliteStore({ directory: temporaryFolder() });
  onTestFinished(() => store.close());
  return store;
}

function approval(id: string, fields: Partial<Approval> = {}): Approval {
  const asked = {
    kind: "setup",
    subject: "s",
    directory: "/r",
    script: "make",
    askedBy: "agent",
    createdAt: 1,
  } as const;
  return { id, ...asked, state: "requested", decidedAt: null, ...fields };
}

test("a repeated request changes nothing; a decision replaces a request", async () => {
  const { board } = await newStore();
  const asked = approval("a");
  expect(await board.putApproval(asked)).toEqual(asked);
  expect(await board.putApproval(approval("b"))).toEqual(asked);
  const denied = { ...asked, state: "denied", decidedAt: 5 } as const;
  expect(await board.putApproval(approval("c", { state: "denied", decidedAt: 5 }))).toEqual(denied);
  expect(await board.putApproval(approval("d"))).toEqual(denied);
  expect(await board.approval("setup", "s")).toEqual(denied);
  expect(await board.approval("directory", "s")).toBeNull();
  expect(await board.approvals("denied", { limit: 10, after: null })).toEqual([denied]);
  expect(await board.approvals("requested", { limit: 10, after: null })).toEqual([]);
});

test("the database itself refuses a second row for a subject", async () => {
  const directory = temporaryFolder();
  const store = await sqliteStore({ directory });
  await store.board.putApproval(approval("a"));
  await store.close();
  const file = new Sqlite(join(directory, "asyncagents.db"));
  const again = "insert into approvals select 'b', kind, subject, directory, script, state, asked_by, created_at, null";
  expect(() => file.run(`${again} from approvals`)).toThrow("UNIQUE constraint failed: approvals.kind");
  file.close();
});

test("an attempt shows its newest session with that session's own host", async () => {
  const store = await newStore();
  await fillBoard(store);
  const session = sampleSession("s", { host: "claude" });
  await store.board.addSession(session);
  expect((await store.board.attempt("a"))?.latestSession).toEqual(session);
});
