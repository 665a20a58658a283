/** What the keys of the inbox do to an entry that does not fit. */
import { expect, test } from "bun:test";
import { InboxSession } from "../../../src/cli/inbox/inbox-session.ts";
import { plainPaints } from "../../../src/cli/terminal/paint.ts";
import type { Screen } from "../../../src/cli/terminal/screen.ts";
import type { Client } from "../../../src/client/client.ts";
import type { WireInboxEntry } from "../../../src/protocol/inbox.ts";
import type { AnswerBody } from "../../../src/protocol/tasks.ts";

function permission(text: string, isShortened: boolean): WireInboxEntry {
  return {
    id: "ses_1/req_1",
    kind: "permission",
    since: new Date(0).toISOString(),
    text,
    isShortened,
    answers: ["once", "always", "reject"],
    taskId: "ses_1",
    requestId: "req_1",
    approvalId: null,
    budgetId: null,
    description: "Build",
    agent: "build",
    host: "scripted",
    directory: "/shop",
    machine: "",
    parentSessionID: null,
    seen: ["command line"],
    policy: null,
  };
}

/** A session with one entry, what it last showed, and what it answered. */
function opened(entry: WireInboxEntry) {
  const answered: string[] = [];
  const answer = async (_id: string, body: AnswerBody) =>
    void answered.push(body.kind === "permission" ? body.decision : "");
  let shown = "";
  const screen = { width: 80, height: 20, paint: plainPaints, draw: (lines: string[]) => (shown = lines.join("\n")) };
  const session = new InboxSession(async () => ({ answer }) as unknown as Client, screen as unknown as Screen);
  session.show([entry]);
  const press = async (key: string) => {
    session.press(key);
    await Bun.sleep(0);
    return shown;
  };
  return { press, answered };
}

test("a permission is allowed only when all of it was shown; it can be rejected at once", async () => {
  const long = `npm test ${"# all is well\n".repeat(30)} ; rm -rf everything`;
  const { press, answered } = opened(permission(long, false));
  for (const key of ["a", "A"]) expect(await press(key)).toContain("Read all of it first");
  for (let pages = 0; pages < 20 && !(await press("\r")).includes("rm -rf everything"); pages++);
  expect(answered).toEqual([]);
  await press("a");
  expect(answered).toEqual(["once"]);
  const other = opened(permission(long, false));
  await other.press("r");
  expect(other.answered).toEqual(["reject"]);
});

test("of one that is too long for the inbox, it says where all of it is", async () => {
  const { press, answered } = opened(permission("npm test", true));
  for (const key of ["a", "A"]) expect(await press(key)).toContain("asyncagents show ses_1 shows all of it");
  expect(answered).toEqual([]);
  await press("r");
  expect(answered).toEqual(["reject"]);
});

test("a character that is wider than the screen, as some scripts can make one, is shown in pieces", async () => {
  for (const sign of ["\u1100", "\u0915\u094d"]) {
    const { press, answered } = opened(permission(`${sign.repeat(300)}; rm -rf everything`, false));
    for (let pages = 0; pages < 20 && !(await press("\r")).includes("rm -rf everything"); pages++);
    await press("a");
    expect(answered).toEqual(["once"]);
  }
});
